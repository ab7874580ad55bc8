package gates;

import org.apache.flink.shaded.asm9.org.objectweb.asm.MethodVisitor;
import org.apache.flink.shaded.asm9.org.objectweb.asm.Opcodes;

/** Copies a method, with a gate at its beginning. */
public class GateAgentMethod extends MethodVisitor {
    private final String point;

    public GateAgentMethod(MethodVisitor to, String point) {
        super(Opcodes.ASM9, to);
        this.point = point;
    }

    public void visitCode() {
        super.visitCode();
        super.visitLdcInsn(this.point);
        super.visitInsn(Opcodes.ACONST_NULL);
        super.visitMethodInsn(
            Opcodes.INVOKESTATIC, "gates/Gate", "pass", "(Ljava/lang/String;Ljava/lang/String;)V", false);
    }
}
