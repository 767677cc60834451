import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

/** Mail server that accepts XOAUTH2 only, and the token endpoint that issues its tokens. */
export class OAuthMailServer {
  readonly emails: string[] = [];
  /** Users and tokens of log-ins, in order. */
  readonly logIns: { readonly user: string; readonly token: string }[] = [];
  /** Forms that the endpoint received. */
  readonly requests: Record<string, string>[] = [];
  /** Response of the endpoint instead of a token. */
  refusal: { readonly status: number; readonly body: object } | null = null;
  /** Refresh token in the next responses; null for none. */
  nextRefreshToken: string | null = null;
  private valid = '';

  private readonly smtp = new SMTPServer({
    authMethods: ['XOAUTH2'],
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username = '', accessToken = '' }, _session, done) => {
      this.logIns.push({ user: username, token: accessToken });
      done(null, accessToken === this.valid ? { user: username } : { data: { status: '401', schemes: 'bearer' } });
    },
    onData: (stream, _session, done) => {
      text(stream).then((email) => {
        this.emails.push(email);
        done();
      }, done);
    },
  });
  private readonly endpoint: Server = createServer(async (request, response) => {
    this.requests.push(Object.fromEntries(new URLSearchParams(await text(request))));
    const { status, body } = this.refusal ?? { status: 200, body: this.issue() };
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.smtp.listen(0, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => this.endpoint.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.smtp.close(resolve));
    await new Promise((resolve) => this.endpoint.close(resolve));
  }

  /** Invalidates all tokens. */
  revoke(): void {
    this.valid = '';
  }

  urlFor(mailbox: string): string {
    const { port } = this.smtp.server.address() as AddressInfo;
    return `smtp://${encodeURIComponent(mailbox)}@127.0.0.1:${port}`;
  }

  get tokenUrl(): string {
    return `http://127.0.0.1:${(this.endpoint.address() as AddressInfo).port}/token`;
  }

  private issue(): object {
    this.valid = `access-token-${this.requests.length}`;
    return {
      access_token: this.valid,
      token_type: 'Bearer',
      expires_in: 3600,
      ...(this.nextRefreshToken !== null && { refresh_token: this.nextRefreshToken }),
    };
  }
}
