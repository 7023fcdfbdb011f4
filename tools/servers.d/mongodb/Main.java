import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.ServerVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

// mongo-java-server in memory, on loopback, at the port that is its argument. It runs until it is killed.
class Main {
  public static void main(String[] arguments) {
    var backend = new MemoryBackend();
    backend.version(ServerVersion.MONGO_5_0);
    new MongoServer(backend).bind("127.0.0.1", Integer.parseInt(arguments[0]));
    System.out.println("ready");
  }
}
