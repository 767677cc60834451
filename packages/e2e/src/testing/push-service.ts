import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Takes whatever it is sent. */
export class AgreeablePushService {
  private constructor(private readonly server: Server) {}

  static async start(): Promise<AgreeablePushService> {
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end('{"result":"success","msg":""}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new AgreeablePushService(server);
  }

  /** For a server that is to use it. */
  get environment(): Readonly<Record<string, string>> {
    const { port } = this.server.address() as AddressInfo;
    return {
      PARLEY_PUSH_SERVICE: `http://127.0.0.1:${port}`,
      PARLEY_PUSH_ORG_ID: '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe',
      PARLEY_PUSH_ORG_KEY: 'key',
    };
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => {
      this.server.close(() => resolve());
    });
  }
}
