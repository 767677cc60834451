import {
  type AddressedRealm,
  type Clock,
  hasPassed,
  type RealmId,
  type RealmUrls,
  type UnitOfWork,
} from '@parley/domain/kernel';
import type { Realm, ServerAddress } from '@parley/domain/realms';
import type { RealmDirectory } from '@parley/http';

type ListedRealm = Pick<Realm, 'id' | 'stringId' | 'isAtServerAddress'>;

export interface RealmResolverOptions {
  /** Public URL of the server. */
  readonly url: string;
  /** String id of the realm at the public URL, if it exists; otherwise the first realm created there. */
  readonly defaultRealm: string | null;
  /** URL scheme of realms other than the one at the public URL; default: by host name. */
  readonly realmAddresses?: RealmAddresses;
}

/** Distinguishes realms by host, `shop.example.com`, or by path, `example.com/shop`. */
export type RealmAddresses = 'host' | 'path';

/** Returns the address properties that do not depend on realms. */
export function serverAddressOf({ url, defaultRealm, realmAddresses }: RealmResolverOptions): ServerAddress {
  return { defaultRealm, hasSubdomains: realmAddresses === 'path' || !isIpAddress(new URL(url).hostname) };
}

/** Recognizes IP addresses as normalized by URL parsing. Node's `isIP` would slow down startup. */
const isIpAddress = (hostname: string): boolean => hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname);

export type OpenRealm = (realmId: RealmId) => Promise<void> | null;

/** Cache lifetime of the realm list, since other processes may add realms. */
const BELIEVED_MS = 1000;

/** Resolves host names to realms and realms to addresses (architecture §8). */
export class RealmResolver implements RealmUrls, RealmDirectory {
  static readonly inject = ['unitOfWork', 'clock', 'options', 'openRealm'] as const;

  private readonly base: Pick<URL, 'protocol' | 'host' | 'hostname' | 'pathname'>;
  private realms: readonly ListedRealm[] = [];
  private byStringId: ReadonlyMap<string, ListedRealm> = new Map();
  private byId: ReadonlyMap<RealmId, ListedRealm> = new Map();
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly options: RealmResolverOptions,
    /** Called before authenticating a caller of the realm; see `LogFollower.open`. */
    private readonly open: OpenRealm = () => null,
  ) {
    const { protocol, host, hostname, pathname } = new URL(options.url);
    this.base = { protocol, host, hostname, pathname: pathname.replace(/\/+$/, '') };
  }

  /** Loads the realms; must be called before `urlOf`. */
  async refresh(): Promise<void> {
    this.realms = await this.uow.readAcross(({ realms }) => realms.list());
    this.byStringId = new Map(this.realms.map((realm) => [realm.stringId, realm]));
    this.byId = new Map(this.realms.map((realm) => [realm.id, realm]));
    this.readAtMs = this.clock.nowMs();
  }

  urlOf(realm: AddressedRealm): string {
    const { protocol, host, pathname } = this.base;
    return `${protocol}//${this.subdomainFor(realm)}${host}${pathname}${this.pathFor(realm)}`;
  }

  emailDomainOf(realm: AddressedRealm): string {
    const { hostname } = this.base;
    // Email addresses must end in a domain name, which excludes IP addresses and `localhost`.
    if (isIpAddress(hostname) || !hostname.includes('.')) return 'parley.invalid';
    return this.subdomainFor(realm) + hostname;
  }

  private subdomainFor(realm: AddressedRealm): string {
    return this.isByPath || this.isAtBase(realm) ? '' : `${realm.stringId}.`;
  }

  private pathFor(realm: AddressedRealm): string {
    return this.isByPath && !this.isAtBase(realm) ? `/${realm.stringId}` : '';
  }

  private isAtBase(realm: AddressedRealm): boolean {
    return realm.stringId === '' || this.isAtServerAddress(realm);
  }

  private get isByPath(): boolean {
    return this.options.realmAddresses === 'path';
  }

  private isAtServerAddress({ stringId, isAtServerAddress }: AddressedRealm): boolean {
    if (stringId === this.options.defaultRealm) return true;
    // With paths, every realm has a separate address, including the first one.
    return isAtServerAddress && !this.isByPath && !this.chosenRealm();
  }

  async findRealm(address: string): Promise<RealmId | null> {
    const subdomain = address.startsWith('/') ? address.slice(1) : this.subdomainOf(address);
    return this.find(() => (subdomain === null ? this.defaultRealm() : this.listed(subdomain)));
  }

  async findByStringId(stringId: string): Promise<RealmId | null> {
    return this.find(() => this.listed(stringId));
  }

  /** Returns null if the realm does not exist. */
  async stringIdOf(id: RealmId): Promise<string | null> {
    const look = () => this.byId.get(id);
    return (this.believed(look) ?? (await this.lookAgain(look)))?.stringId ?? null;
  }

  private find(look: () => ListedRealm | undefined): RealmId | null | Promise<RealmId | null> {
    const realm = this.believed(look);
    return realm ? this.opened(realm.id) : this.lookAgain(look).then((realm) => (realm ? this.opened(realm.id) : null));
  }

  private opened(realmId: RealmId): RealmId | Promise<RealmId> {
    const opening = this.open(realmId);
    return opening ? opening.then(() => realmId) : realmId;
  }

  /**
   * Returns a cached realm while the cache is valid. Missing realms are never cached, since they may just have been
   * added.
   */
  private believed(look: () => ListedRealm | undefined): ListedRealm | undefined {
    return hasPassed(this.readAtMs, BELIEVED_MS, this.clock.nowMs()) ? undefined : look();
  }

  private async lookAgain(look: () => ListedRealm | undefined): Promise<ListedRealm | undefined> {
    await this.refresh();
    return look();
  }

  private listed(stringId: string): ListedRealm | undefined {
    return this.byStringId.get(stringId);
  }

  /** Returns the subdomain; null for the public host itself or an unrelated host. */
  private subdomainOf(host: string): string | null {
    const suffix = `.${this.base.hostname}`;
    if (this.isByPath || isIpAddress(this.base.hostname) || !host.endsWith(suffix)) return null;
    const subdomain = host.slice(0, -suffix.length);
    return subdomain === 'www' ? null : subdomain;
  }

  private defaultRealm(): ListedRealm | undefined {
    return this.chosenRealm() ?? this.realms.find((realm) => realm.isAtServerAddress);
  }

  private chosenRealm(): ListedRealm | undefined {
    const { defaultRealm } = this.options;
    return defaultRealm === null ? undefined : this.listed(defaultRealm);
  }
}
