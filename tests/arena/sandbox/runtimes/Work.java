/** Threads, a child process, compiled code, and more garbage than memory. */
public class Work {
  static long sum;

  public static void main(String[] words) throws Exception {
    Thread[] threads = new Thread[4];
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(() -> {
        for (int n = 0; n < 400; n++) {
          byte[] waste = new byte[1 << 19];
          synchronized (Work.class) { sum += waste.length; }
        }
      });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    long product = 1;
    for (int i = 1; i < 20_000_000; i++) product = product * 31 + i;
    java.nio.file.Path file = java.nio.file.Files.createTempFile("work", "");
    java.nio.file.Files.writeString(file, "x" + product);
    java.nio.file.Files.delete(file);
    int left = new ProcessBuilder("true").start().waitFor();
    if (sum != 4L * 400 * (1 << 19) || left != 0) throw new IllegalStateException();
    System.out.println("done");
  }
}
