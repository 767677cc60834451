import type { Clock, UnixSeconds } from '@parley/domain/kernel';
import {
  openRegistration,
  type PendingRegistration,
  type PhonePush,
  type PhoneRequest,
  type PhoneSender,
  type PushToken,
  type RegistrationError,
  type RegistrationKeys,
  sendToPhones,
} from '@parley/domain/push';

/** Server that sends its notifications through this push service (organization §17). */
export interface RemoteServer {
  readonly id: number;
  readonly uuid: string;
  /** SHA-256 of the server's random key. */
  readonly keyHash: string;
  readonly hostname: string;
  readonly contactEmail: string;
}

export const MAX_REMOTE_SERVERS = 10_000;
export const MAX_REALMS_PER_SERVER = 1000;
export const MAX_TOKENS_PER_SERVER = 100_000;
/** Maximum total length of a server's tokens. */
export const MAX_TOKEN_BYTES_PER_SERVER = 32 * 1024 * 1024;
/** Age after which registrations are removed. Apps renew theirs every 30 days, so older ones are abandoned. */
const KEPT_SECONDS = 90 * 86_400;

/** Token registered by a server. */
export interface RemoteToken extends PushToken {
  readonly tokenId: string;
}

/** Owner of tokens on a server: the user for legacy tokens, the organization for device registrations. */
export type TokenOwner = `user ${string}` | `realm ${string}`;

/** Data of a push service, separate from that of organizations. Each call is a transaction. */
export interface PushServerStore {
  findServer(uuid: string): Promise<RemoteServer | null>;
  countServers(): Promise<number>;
  /** Adds the server, or replaces the data of the server with the same UUID. */
  putServer(server: Omit<RemoteServer, 'id'>): Promise<void>;
  /** Removes the server with its organizations and tokens. */
  removeServer(serverId: number): Promise<void>;
  /** Returns the server of each known organization. */
  findRealms(uuids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  countRealms(serverId: number): Promise<number>;
  /** Idempotent for organizations that already belong to the server. */
  addRealms(serverId: number, uuids: readonly string[]): Promise<void>;
  /** Replaces an earlier registration of the token by the same owner. */
  putToken(serverId: number, owner: TokenOwner, token: RemoteToken, now: UnixSeconds): Promise<void>;
  /** Returns the owner's tokens with these ids, or all if null. */
  findTokens(serverId: number, owner: TokenOwner, tokenIds: readonly string[] | null): Promise<readonly RemoteToken[]>;
  /** Removes the owner's tokens with these ids, or all if null. */
  removeTokens(serverId: number, owner: TokenOwner, tokenIds: readonly string[] | null): Promise<void>;
  usageOf(serverId: number): Promise<{ readonly tokens: number; readonly bytes: number }>;
  /** Removes device registrations last renewed before the time. */
  removeDevicesBefore(time: UnixSeconds): Promise<void>;
}

/** `taken`: the organization belongs to another server. `full`: the server has reached a limit. */
export type PushRefusal = 'unknownRealm' | 'taken' | 'full' | 'unknownToken' | 'unreachable' | 'wrongKey';

/** Notification to one device of an organization. */
export interface DeviceRequest {
  readonly tokenId: string;
  readonly push: PhonePush;
}

/** Legacy notification, the same for all phones of a vendor. */
export interface LegacyRequest {
  readonly realmUuid: string;
  readonly user: string;
  /** Tokens of the recipients. */
  readonly tokens: readonly string[];
  readonly pushes: { readonly [K in PushToken['kind']]: PhonePush };
}

/** Tokens grouped by outcome. */
export interface RemoteDelivery {
  readonly sent: { readonly apns: number; readonly fcm: number };
  readonly goneIds: readonly string[];
  /** Ids of tokens to retry. */
  readonly retryIds: readonly string[];
}

/** Server side of the push service protocol (organization §17): stores tokens for other servers and sends to them. */
export class PushServer {
  constructor(
    private readonly store: PushServerStore,
    private readonly keys: RegistrationKeys,
    private readonly sender: PhoneSender,
    private readonly clock: Clock,
  ) {}

  get now(): UnixSeconds {
    return this.clock.now();
  }

  tokenIdOf(token: string): string {
    return this.keys.tokenIdOf(token);
  }

  /** Adds a server, or changes the one with this UUID and key. Returns true if it is new. */
  async register(server: Omit<RemoteServer, 'id'>, newKeyHash: string | null): Promise<boolean | PushRefusal> {
    const before = await this.store.findServer(server.uuid);
    if (before && before.keyHash !== server.keyHash) return 'wrongKey';
    if (!before && (await this.store.countServers()) >= MAX_REMOTE_SERVERS) return 'full';
    await this.store.putServer({ ...server, keyHash: newKeyHash ?? server.keyHash });
    return before === null;
  }

  deactivate(serverId: number): Promise<void> {
    return this.store.removeServer(serverId);
  }

  async addRealms(serverId: number, uuids: readonly string[]): Promise<PushRefusal | null> {
    const known = await this.store.findRealms(uuids);
    if ([...known.values()].some((owner) => owner !== serverId)) return 'taken';
    const added = new Set(uuids).size - known.size;
    if (added > 0 && (await this.store.countRealms(serverId)) + added > MAX_REALMS_PER_SERVER) return 'full';
    await this.store.addRealms(serverId, uuids);
    return null;
  }

  async registerDevice(
    serverId: number,
    realmUuid: string,
    registration: PendingRegistration,
  ): Promise<RegistrationError | PushRefusal | null> {
    const refusal = await this.refuseRealm(serverId, realmUuid);
    if (refusal) return refusal;
    const token = openRegistration(this.keys, registration, this.clock.now());
    return typeof token === 'string' ? token : this.putToken(serverId, `realm ${realmUuid}`, token);
  }

  async registerToken(
    serverId: number,
    realmUuid: string,
    user: string,
    token: PushToken,
  ): Promise<PushRefusal | null> {
    return (await this.refuseRealm(serverId, realmUuid)) ?? this.putToken(serverId, `user ${user}`, token);
  }

  async unregisterToken(serverId: number, user: string, token: string): Promise<PushRefusal | null> {
    const ids = [this.keys.tokenIdOf(token)];
    if ((await this.store.findTokens(serverId, `user ${user}`, ids)).length === 0) return 'unknownToken';
    await this.store.removeTokens(serverId, `user ${user}`, ids);
    return null;
  }

  unregisterAll(serverId: number, user: string): Promise<void> {
    return this.store.removeTokens(serverId, `user ${user}`, null);
  }

  async notifyDevices(
    serverId: number,
    realmUuid: string,
    requests: readonly DeviceRequest[],
  ): Promise<RemoteDelivery | PushRefusal> {
    const refusal = await this.refuseRealm(serverId, realmUuid);
    if (refusal) return refusal;
    const pushes = new Map(requests.map(({ tokenId, push }) => [tokenId, push]));
    return this.deliver(serverId, `realm ${realmUuid}`, [...pushes.keys()], ({ tokenId }) => pushes.get(tokenId)!);
  }

  async notifyTokens(serverId: number, request: LegacyRequest): Promise<RemoteDelivery | PushRefusal> {
    const refusal = await this.refuseRealm(serverId, request.realmUuid);
    if (refusal) return refusal;
    const ids = new Set(request.tokens.map((token) => this.keys.tokenIdOf(token)));
    return this.deliver(serverId, `user ${request.user}`, [...ids], ({ kind }) => request.pushes[kind]);
  }

  removeStale(): Promise<void> {
    return this.store.removeDevicesBefore((this.clock.now() - KEPT_SECONDS) as UnixSeconds);
  }

  private async refuseRealm(serverId: number, realmUuid: string): Promise<PushRefusal | null> {
    const owner = (await this.store.findRealms([realmUuid])).get(realmUuid);
    if (owner === undefined) return 'unknownRealm';
    return owner === serverId ? null : 'taken';
  }

  private async putToken(serverId: number, owner: TokenOwner, token: PushToken): Promise<PushRefusal | null> {
    const tokenId = this.keys.tokenIdOf(token.token);
    const { tokens, bytes } = await this.store.usageOf(serverId);
    if (tokens >= MAX_TOKENS_PER_SERVER || bytes + token.token.length > MAX_TOKEN_BYTES_PER_SERVER) {
      // Renewed registrations take no additional room.
      if ((await this.store.findTokens(serverId, owner, [tokenId])).length === 0) return 'full';
    }
    await this.store.putToken(serverId, owner, { ...token, tokenId }, this.clock.now());
    return null;
  }

  /** Returns `unreachable` if the whole request should be retried. */
  private async deliver(
    serverId: number,
    owner: TokenOwner,
    tokenIds: readonly string[],
    pushFor: (token: RemoteToken) => PhonePush,
  ): Promise<RemoteDelivery | PushRefusal> {
    const tokens = await this.store.findTokens(serverId, owner, tokenIds);
    const requests = tokens.map((token): PhoneRequest<string> => {
      return { target: token.tokenId, to: token, push: pushFor(token) };
    });
    const { sent, gone, unreached } = await sendToPhones(this.sender, requests);
    const known = new Set(tokens.map(({ tokenId }) => tokenId));
    const goneIds = gone.map(({ target }) => target);
    if (goneIds.length > 0) await this.store.removeTokens(serverId, owner, goneIds);
    const missing = tokenIds.filter((id) => !known.has(id));
    if (unreached.length > 0 && sent.length + gone.length + missing.length === 0) return 'unreachable';
    const count = (kind: PushToken['kind']) => sent.filter(({ to }) => to.kind === kind).length;
    return {
      sent: { apns: count('apns'), fcm: count('fcm') },
      goneIds: [...goneIds, ...missing],
      retryIds: unreached.map(({ target }) => target),
    };
  }
}
