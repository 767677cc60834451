import { type HttpRefusal, serverBusy, tooMuchAtOnce } from './errors.js';

/** Who the bytes are charged to: a user, or an address. */
export type ClientKey = string | number;

/**
 * Bytes, or whatever else is counted, that may be held at once, by everybody and by one client. Whoever wants more is refused: memory is never what
 * runs out.
 */
export class ByteBudget {
  private readonly ofClient = new Map<ClientKey, number>();
  private held = 0;

  /** `share`: of one client. */
  constructor(
    readonly total: number,
    private readonly share: number,
  ) {}

  get used(): number {
    return this.held;
  }

  /** `client`: null for what several of them hold together. Answers null when it was taken; else why it was not. */
  tryTake(client: ClientKey | null, bytes: number): HttpRefusal | null {
    if (client !== null && (this.ofClient.get(client) ?? 0) + bytes > this.share) return tooMuchAtOnce();
    if (this.held + bytes > this.total) return serverBusy();
    this.take(client, bytes);
    return null;
  }

  /** Whether or not there is room, for what cannot be refused any more. */
  take(client: ClientKey | null, bytes: number): void {
    this.held += bytes;
    if (client !== null) this.ofClient.set(client, (this.ofClient.get(client) ?? 0) + bytes);
  }

  release(client: ClientKey | null, bytes: number): void {
    this.held -= bytes;
    if (client === null) return;
    const left = (this.ofClient.get(client) ?? 0) - bytes;
    if (left > 0) this.ofClient.set(client, left);
    else this.ofClient.delete(client);
  }
}

/** What one request holds of a budget, given back in one stroke. */
export class Charge {
  private bytes = 0;

  constructor(
    private readonly budget: ByteBudget,
    private readonly client: ClientKey,
  ) {}

  /** @throws HttpRefusal 429 or 503 with `Retry-After`. */
  add(bytes: number): void {
    const refusal = this.budget.tryTake(this.client, bytes);
    if (refusal) throw refusal;
    this.bytes += bytes;
  }

  release(): void {
    if (this.bytes > 0) this.budget.release(this.client, this.bytes);
    this.bytes = 0;
  }
}
