package gates;

import org.apache.flink.shaded.asm9.org.objectweb.asm.ClassVisitor;
import org.apache.flink.shaded.asm9.org.objectweb.asm.MethodVisitor;
import org.apache.flink.shaded.asm9.org.objectweb.asm.Opcodes;

/** Copies a class, with a gate in each method of one name. */
public class GateAgentClass extends ClassVisitor {
    private final String method;
    private final String point;

    public GateAgentClass(ClassVisitor to, String method, String point) {
        super(Opcodes.ASM9, to);
        this.method = method;
        this.point = point;
    }

    public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] errors) {
        MethodVisitor to = super.visitMethod(access, name, type, signature, errors);
        boolean here = name.equals(this.method) && (access & Opcodes.ACC_ABSTRACT) == 0;
        return here ? new GateAgentMethod(to, this.point) : to;
    }
}
