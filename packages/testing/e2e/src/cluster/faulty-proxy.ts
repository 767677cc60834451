import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** `refusing` closes all connections, `silent` keeps them open without forwarding data. */
export type ProxyMode = 'open' | 'refusing' | 'silent';

/** Socket file, or local port. */
export type ProxyTarget = { readonly path: string } | { readonly port: number };

/** TCP proxy between a node and a service that simulates network faults. */
export class FaultyProxy {
  /** Added to each packet in both directions. */
  delayMs = 0;
  private mode: ProxyMode = 'open';
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(private target: ProxyTarget) {
    this.server = createServer((client) => {
      if (this.mode === 'refusing') return void client.destroy();
      const upstream = createConnection(this.target);
      this.pass(client, upstream);
      this.pass(upstream, client);
    });
  }

  static async to(target: ProxyTarget): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Redirects new connections to another service and closes existing ones. */
  redirect(target: ProxyTarget): void {
    this.target = target;
    this.become('refusing');
    this.become('open');
  }

  become(mode: ProxyMode): void {
    this.mode = mode;
    for (const socket of this.sockets) {
      if (mode === 'refusing') socket.destroy();
      else if (mode === 'silent') socket.pause();
      else socket.resume();
    }
  }

  close(): void {
    this.become('refusing');
    this.server.close();
  }

  private pass(from: Socket, to: Socket): void {
    let passed: Promise<unknown> = Promise.resolve();
    this.sockets.add(from);
    from.setNoDelay(true);
    if (this.mode === 'silent') from.pause();
    from.on('data', (data) => {
      passed = passed.then(() => (this.delayMs > 0 ? sleep(this.delayMs) : undefined)).then(() => to.write(data));
    });
    from.on('error', () => {});
    from.once('close', () => {
      this.sockets.delete(from);
      void passed.then(() => to.destroy());
    });
  }
}
