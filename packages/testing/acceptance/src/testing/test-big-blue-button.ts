import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BigBlueButtonAccount } from '@parley/node-adapters';

const SECRET = 'shared-secret';
const CREATE_TIME = 1_700_000_000_123;

/** BigBlueButton server on its own port; verifies signatures like a real server. */
export class TestBigBlueButton {
  /** Parameters of created meetings; creating an open meeting again succeeds. */
  readonly created: Readonly<Record<string, string>>[] = [];
  /** Fixed response instead of the normal one; null for normal operation. */
  failure: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> } | null = null;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TestBigBlueButton> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const service = new TestBigBlueButton(server);
    server.on('request', (request, response) => {
      const { status, body, headers = {} } = service.failure ?? { status: 200, body: service.response(request.url!) };
      response.writeHead(status, { 'Content-Type': 'text/xml;charset=utf-8', ...headers }).end(body);
    });
    return service;
  }

  get account(): BigBlueButtonAccount {
    return { url: `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/bigbluebutton`, secret: SECRET };
  }

  /** Parameters of a join URL; null for other URLs and wrong signatures. */
  joinedBy(url: string): Readonly<Record<string, string>> | null {
    const { url: base } = this.account;
    return url.startsWith(base) ? parametersOf('join', url.slice(new URL(base).origin.length)) : null;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private response(target: string): string {
    const parameters = parametersOf('create', target);
    if (!parameters)
      return '<response><returncode>FAILED</returncode><messageKey>checksumError</messageKey></response>';
    this.created.push(parameters);
    return `<response>
  <returncode>SUCCESS</returncode>
  <meetingID>${parameters.meetingID}</meetingID>
  <createTime>${CREATE_TIME}</createTime>
  <messageKey></messageKey>
</response>`;
  }
}

function parametersOf(call: string, target: string): Readonly<Record<string, string>> | null {
  const [, query, checksum] =
    new RegExp(`^/bigbluebutton/api/${call}\\?(.*)&checksum=([0-9a-f]{64})$`).exec(target) ?? [];
  if (query === undefined) return null;
  const expected = createHash('sha256').update(`${call}${query}${SECRET}`).digest('hex');
  return checksum === expected ? Object.fromEntries(new URLSearchParams(query)) : null;
}
