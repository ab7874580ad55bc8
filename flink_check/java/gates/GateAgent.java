package gates;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.apache.flink.shaded.asm9.org.objectweb.asm.ClassReader;
import org.apache.flink.shaded.asm9.org.objectweb.asm.ClassWriter;

/** -javaagent:JAR=CLASS#METHOD=POINT,...: a gate at the beginning of any method of Flink. */
public class GateAgent implements ClassFileTransformer {
    private final String[] rules;

    public GateAgent(String rules) {
        this.rules = rules.split(",");
    }

    public static void premain(String rules, Instrumentation to) {
        to.addTransformer(new GateAgent(rules));
    }

    public byte[] transform(ClassLoader loader, String name, Class old, ProtectionDomain domain, byte[] bytes) {
        byte[] result = null; // null: the class stays as it is
        for (int i = 0; i < this.rules.length; i++) {
            String rule = this.rules[i];
            int method = rule.indexOf('#');
            int point = rule.indexOf('=');
            if (name == null || !name.equals(rule.substring(0, method).replace('.', '/'))) continue;
            ClassReader reader = new ClassReader(result == null ? bytes : result);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(
                new GateAgentClass(writer, rule.substring(method + 1, point), rule.substring(point + 1)), 0);
            result = writer.toByteArray();
        }
        return result;
    }
}
