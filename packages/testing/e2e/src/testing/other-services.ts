import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const BIG_BLUE_BUTTON = '/bigbluebutton';
const MEETING = '<response><returncode>SUCCESS</returncode><createTime>1700000000123</createTime></response>';

/** Push service and BigBlueButton server that accept every request. */
export class AgreeableServices {
  private constructor(private readonly server: Server) {}

  static async start(): Promise<AgreeableServices> {
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        const isMeeting = request.url!.startsWith(BIG_BLUE_BUTTON);
        response.writeHead(200, { 'Content-Type': isMeeting ? 'text/xml' : 'application/json' });
        response.end(isMeeting ? MEETING : '{"result":"success","msg":""}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new AgreeableServices(server);
  }

  /** Environment of a server that uses them. */
  get environment(): Readonly<Record<string, string>> {
    const { port } = this.server.address() as AddressInfo;
    return {
      PARLEY_PUSH_SERVICE: `http://127.0.0.1:${port}`,
      PARLEY_PUSH_ORG_ID: '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe',
      PARLEY_PUSH_ORG_KEY: 'key',
      PARLEY_WEB_PUSH: 'mailto:ops@example.com',
      PARLEY_BIGBLUEBUTTON_URL: `http://127.0.0.1:${port}${BIG_BLUE_BUTTON}`,
      PARLEY_BIGBLUEBUTTON_SECRET: 'secret',
    };
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => {
      this.server.close(() => resolve());
    });
  }
}
