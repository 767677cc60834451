import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions, NatsConnection, Subscription } from '@nats-io/transport-node';
import { BUS_HINT_KINDS } from '@parley/domain/composition';
import {
  type Bus,
  type BusCounts,
  type BusHint,
  loadOptional,
  type RealmId,
  type Unsubscribe,
} from '@parley/domain/kernel';

/** Database of an installation. A copy of it has the same `id` and another `place`. */
export interface Installation {
  readonly id: string;
  readonly place: string;
}

export interface NatsBusOptions {
  /** Addresses of one cluster: `nats://HOST:PORT` or `tls://HOST:PORT`. */
  readonly servers: readonly string[];
  /** Path of a file with a user's credentials (`.creds`), `USER:PASSWORD` or a token; null for none. */
  readonly credentialsFile: string | null;
  /** Path of the CA certificates (PEM) for the servers; null for those of the system. */
  readonly caFile: string | null;
  readonly installation: Installation;
  /** Servers of another release may write different event formats, so their events are read from the log. */
  readonly release: string;
  /** False to omit the events of commits. */
  readonly sendsContents: boolean;
  /** Called on every state change, and once at the start if the bus is unavailable. */
  readonly onState?: (state: Bus['state'], reason: unknown) => void;
}

export interface NatsBus extends Bus {
  readonly counts: BusCounts;
  close(): Promise<void>;
}

interface Envelope {
  readonly place: string;
  readonly release: string;
  readonly hint: BusHint;
}

/** Maximum size of a message with events. Receivers read larger commits from the log. */
const MAX_CONTENTS_BYTES = 64 * 1024;
/** Number of sent bytes after which the server must confirm, and maximum number of unconfirmed bytes. */
const CONFIRM_BYTES = 1024 * 1024;
const MAX_UNCONFIRMED_BYTES = 8 * CONFIRM_BYTES;
const CONNECT_MS = 2000;
const RETRY_MS = 500;
/** Timeout for the server to confirm a subscription. */
const CONFIRM_MS = 1000;
const PING_MS = 5000;

/**
 * Connects to the bus and reconnects after a lost connection. Resolves after the first attempt, even if it fails.
 * @throws MissingLibrary, Error if the credentials file or the CA file cannot be read
 */
export async function openNatsBus(options: NatsBusOptions): Promise<NatsBus> {
  const bus = new CoreNatsBus(options, await connectorOf(options));
  await bus.start();
  return bus;
}

/** Tests the connection for diagnosis. Returns the server's version. @throws Error */
export async function examineNats(
  options: Pick<NatsBusOptions, 'servers' | 'credentialsFile' | 'caFile'>,
): Promise<string> {
  const connection = await (await connectorOf(options))();
  const version = connection.info?.version ?? 'unknown';
  await connection.close();
  return version;
}

type Connect = () => Promise<NatsConnection>;

async function connectorOf({
  servers,
  credentialsFile,
  caFile,
}: Pick<NatsBusOptions, 'servers' | 'credentialsFile' | 'caFile'>): Promise<Connect> {
  const nats = await loadOptional('@nats-io/transport-node', 'bus: nats', () => import('@nats-io/transport-node'));
  const isEncrypted = servers.every((server) => server.startsWith('tls:'));
  const authenticator = (): ConnectionOptions['authenticator'] => {
    if (credentialsFile === null) return undefined;
    // Read for each connection, since credentials may be rotated.
    const text = readFileSync(credentialsFile, 'utf8').trim();
    if (text.includes('BEGIN NATS USER JWT')) return nats.credsAuthenticator(new TextEncoder().encode(text));
    const [, user, password] = /^([^:]*):(.*)$/.exec(text) ?? [];
    return user === undefined ? nats.tokenAuthenticator(text) : nats.usernamePasswordAuthenticator(user, password);
  };
  authenticator();
  const ca = caFile === null ? undefined : readFileSync(caFile, 'utf8');
  return () => {
    const authentication = authenticator();
    return nats.connect({
      servers: servers.map((server) => server.replace(/^(nats|tls):\/\//, '')),
      name: 'parley',
      noEcho: true,
      reconnect: false,
      timeout: CONNECT_MS,
      pingInterval: PING_MS,
      tls: isEncrypted ? { ...(ca !== undefined && { ca }) } : null,
      ...(authentication && { authenticator: authentication }),
    });
  };
}

class CoreNatsBus implements NatsBus {
  readonly counts = { published: 0, received: 0, dropped: 0, foreign: 0, unknown: 0 };
  state: Bus['state'] = 'unavailable';
  private readonly listeners = new Map<RealmId, Set<(hint: BusHint) => void>>();
  private readonly subscriptions = new Map<RealmId, Subscription>();
  private connection: NatsConnection | null = null;
  private unconfirmedBytes = 0;
  private isConfirming = false;
  private readonly closing = new AbortController();
  private ended: Promise<void> = Promise.resolve();
  private hasReported = false;

  constructor(
    private readonly options: NatsBusOptions,
    private readonly connect: Connect,
  ) {}

  start(): Promise<void> {
    return new Promise((onAttempt) => {
      this.ended = this.run(onAttempt);
    });
  }

  publish(realmId: RealmId, hint: BusHint): void {
    const { connection } = this;
    const message = connection && this.encode(hint);
    if (!message || this.unconfirmedBytes + message.length > MAX_UNCONFIRMED_BYTES) {
      this.counts.dropped++;
      return;
    }
    try {
      connection.publish(`${this.subjectOf(realmId)}.${hint.kind}`, message);
    } catch {
      // The connection closed before the client noticed.
      this.counts.dropped++;
      return;
    }
    this.counts.published++;
    this.unconfirmedBytes += message.length;
    if (this.unconfirmedBytes > CONFIRM_BYTES) void this.confirm(connection);
  }

  async subscribe(realmId: RealmId, listener: (hint: BusHint) => void): Promise<Unsubscribe> {
    const listeners = this.listeners.get(realmId) ?? new Set();
    this.listeners.set(realmId, listeners.add(listener));
    const { connection } = this;
    if (connection) {
      if (!this.subscriptions.has(realmId)) this.listen(connection, realmId);
      await this.flushed(connection);
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.listeners.get(realmId) !== listeners) return;
      this.listeners.delete(realmId);
      this.subscriptions.get(realmId)?.unsubscribe();
      this.subscriptions.delete(realmId);
    };
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.connection?.close();
    await this.ended;
  }

  private async run(onAttempt: () => void): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      let reason: unknown;
      try {
        const connection = await this.connect();
        if (signal.aborted) await connection.close();
        else await this.attach(connection);
        onAttempt();
        reason = await connection.closed();
      } catch (error) {
        reason = error;
      }
      this.detach();
      if (signal.aborted) break;
      this.changeState('unavailable', reason);
      onAttempt();
      // Rejects only if `close` ends the pause, which the loop checks.
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    onAttempt();
  }

  private async attach(connection: NatsConnection): Promise<void> {
    this.connection = connection;
    for (const realmId of this.listeners.keys()) this.listen(connection, realmId);
    await this.flushed(connection);
    this.changeState('connected', null);
  }

  private detach(): void {
    this.connection = null;
    this.subscriptions.clear();
    this.unconfirmedBytes = 0;
  }

  private changeState(state: Bus['state'], reason: unknown): void {
    if (this.state === state && (this.hasReported || state === 'connected')) return;
    this.state = state;
    this.hasReported = true;
    this.options.onState?.(state, reason);
  }

  private listen(connection: NatsConnection, realmId: RealmId): void {
    const callback = (error: Error | null, message: { string(): string }) => {
      if (!error) this.receive(realmId, message.string());
    };
    this.subscriptions.set(realmId, connection.subscribe(`${this.subjectOf(realmId)}.*`, { callback }));
  }

  private receive(realmId: RealmId, text: string): void {
    const { installation, release } = this.options;
    const envelope = decode(text);
    if (envelope && envelope.place !== installation.place) {
      this.counts.foreign++;
      return;
    }
    if (!envelope || !Object.hasOwn(BUS_HINT_KINDS, envelope.hint.kind)) {
      this.counts.unknown++;
      return;
    }
    this.counts.received++;
    const hint = envelope.release === release ? envelope.hint : withoutEvents(envelope.hint);
    for (const listener of this.listeners.get(realmId) ?? []) listener(hint);
  }

  private encode(hint: BusHint): Buffer {
    const { installation, release, sendsContents } = this.options;
    const encoded = (sent: BusHint) =>
      Buffer.from(JSON.stringify({ place: installation.place, release, hint: sent } satisfies Envelope));
    const message = encoded(sendsContents ? hint : withoutEvents(hint));
    return message.length > MAX_CONTENTS_BYTES ? encoded(withoutEvents(hint)) : message;
  }

  private subjectOf(realmId: RealmId): string {
    return `parley.${this.options.installation.id}.${realmId}`;
  }

  /** Waits briefly until the server has received everything. */
  private async flushed(connection: NatsConnection): Promise<void> {
    const timeout = new AbortController();
    // A flush fails only with its connection, and the timer only by the abort below; both end the wait.
    const late = sleep(CONFIRM_MS, undefined, { signal: timeout.signal, ref: false }).catch(() => {});
    await Promise.race([connection.flush().catch(() => {}), late]);
    timeout.abort();
  }

  private async confirm(connection: NatsConnection): Promise<void> {
    if (this.isConfirming) return;
    this.isConfirming = true;
    const sent = this.unconfirmedBytes;
    try {
      await connection.flush();
      if (this.connection === connection) this.unconfirmedBytes -= sent;
    } catch {
      // The connection is lost, and the next one starts without unconfirmed bytes.
    } finally {
      this.isConfirming = false;
    }
  }
}

const withoutEvents = (hint: BusHint): BusHint =>
  hint.kind === 'committed' ? { kind: hint.kind, seq: hint.seq } : hint;

/** Returns null if the text is not a valid message. */
function decode(text: string): Envelope | null {
  try {
    const value = JSON.parse(text) as Partial<Envelope> | null;
    return typeof value?.place === 'string' && typeof value.hint?.kind === 'string' ? (value as Envelope) : null;
  } catch {
    return null;
  }
}
