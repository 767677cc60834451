import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Minimal mail server that accepts one email at a time. */
export class TestSmtpServer {
  readonly emails: string[] = [];
  refuses = false;
  refusal = '451 later';
  private readonly server: Server = createServer((socket) => this.talk(socket));

  listen = () => new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  close = () => new Promise((resolve) => this.server.close(resolve));

  get url(): string {
    return `smtp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private talk(socket: Socket): void {
    let body: string | null = null;
    socket.setEncoding('utf8');
    socket.write('220 test\r\n');
    socket.on('error', () => {});
    socket.on('data', (chunk: string) => {
      if (body !== null) {
        body += chunk;
        if (!body.endsWith('\r\n.\r\n')) return;
        this.emails.push(body);
        body = null;
        socket.write('250 taken\r\n');
        return;
      }
      for (const line of chunk.trim().split('\r\n')) {
        if (/^DATA/i.test(line)) {
          body = '';
          socket.write('354 go on\r\n');
        } else if (/^RCPT/i.test(line) && this.refuses) socket.write(`${this.refusal}\r\n`);
        else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n');
        else socket.write('250 ok\r\n');
      }
    });
  }
}
