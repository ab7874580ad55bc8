// Compiles the packages beside this file with Janino, which lies in Flink's own jars: no JDK is needed.
//   java -cp JARS org.codehaus.janino.SimpleCompiler Build.java Build SOURCES DESTINATION
// Janino knows neither lambdas nor most inference of types: the sources use raw types.
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.codehaus.commons.compiler.util.resource.DirectoryResourceFinder;
import org.codehaus.commons.compiler.util.resource.FileResource;
import org.codehaus.commons.compiler.util.resource.Resource;
import org.codehaus.janino.ClassLoaderIClassLoader;

public class Build {
    public static void main(String[] args) throws Exception {
        File root = new File(args[0]);
        List found = new ArrayList();
        String[] packages = new String[] {"gates", "counts"};
        for (int p = 0; p < packages.length; p++) {
            File[] files = new File(root, packages[p]).listFiles();
            for (int i = 0; i < files.length; i++) {
                if (files[i].getName().endsWith(".java")) found.add(new FileResource(files[i]));
            }
        }
        org.codehaus.janino.Compiler compiler = new org.codehaus.janino.Compiler(
            new DirectoryResourceFinder(root),
            new ClassLoaderIClassLoader(Thread.currentThread().getContextClassLoader()));
        compiler.setDestinationDirectory(new File(args[1]), false);
        compiler.setSourceVersion(8);
        compiler.setTargetVersion(8);
        compiler.setDebugLines(true);
        compiler.setDebugSource(true);
        compiler.setDebugVars(false);
        compiler.compile((Resource[]) found.toArray(new Resource[0]));
    }
}
