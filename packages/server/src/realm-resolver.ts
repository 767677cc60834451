import type { AddressedRealm, Clock, RealmId, RealmUrls, UnitOfWork } from '@parley/domain/kernel';
import type { Realm, ServerAddress } from '@parley/domain/realms';
import type { RealmDirectory } from '@parley/http';

type ListedRealm = Pick<Realm, 'id' | 'stringId' | 'isAtServerAddress'>;

export interface RealmResolverOptions {
  /** The public address. */
  readonly url: string;
  /** String id of the realm at the public address itself, while there is such a realm; else the one that was made there. */
  readonly defaultRealm: string | null;
  /** How realms beside the one at the public address are distinguished; default: by host name. */
  readonly realmAddresses?: RealmAddresses;
}

/** `shop.example.com`, or `example.com/shop`. */
export type RealmAddresses = 'host' | 'path';

/** What may be said of an address before there is any realm. */
export function serverAddressOf({ url, defaultRealm, realmAddresses }: RealmResolverOptions): ServerAddress {
  return { defaultRealm, hasSubdomains: realmAddresses === 'path' || !isIpAddress(new URL(url).hostname) };
}

/** Of a parsed URL, which spells addresses in one way. `isIP` of Node takes three milliseconds of a start. */
const isIpAddress = (hostname: string): boolean => hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname);

/** Other processes may add realms too, so what was read is kept for a short time only. */
const BELIEVED_MS = 1000;

/** Which realm a host name belongs to, and under which address a realm is reached (architecture §8). */
export class RealmResolver implements RealmUrls, RealmDirectory {
  static readonly inject = ['unitOfWork', 'clock', 'options'] as const;

  private readonly base: Pick<URL, 'protocol' | 'host' | 'hostname' | 'pathname'>;
  private realms: readonly ListedRealm[] = [];
  private byStringId: ReadonlyMap<string, ListedRealm> = new Map();
  private byId: ReadonlyMap<RealmId, ListedRealm> = new Map();
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly options: RealmResolverOptions,
  ) {
    const { protocol, host, hostname, pathname } = new URL(options.url);
    this.base = { protocol, host, hostname, pathname: pathname.replace(/\/+$/, '') };
  }

  /** To be called before `urlOf` is. */
  async refresh(): Promise<void> {
    this.realms = await this.uow.read(({ realms }) => realms.list());
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
    // An address must end in a domain name; neither IP addresses nor `localhost` are one.
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
    // By path every realm has an address of its own, the first one too.
    return isAtServerAddress && !this.isByPath && !this.chosenRealm();
  }

  async findRealm(address: string): Promise<RealmId | null> {
    const subdomain = address.startsWith('/') ? address.slice(1) : this.subdomainOf(address);
    return this.find(() => (subdomain === null ? this.defaultRealm() : this.listed(subdomain)));
  }

  async findByStringId(stringId: string): Promise<RealmId | null> {
    return this.find(() => this.listed(stringId));
  }

  /** Null: there is none. */
  async stringIdOf(id: RealmId): Promise<string | null> {
    const look = () => this.byId.get(id);
    return (this.believed(look) ?? (await this.lookAgain(look)))?.stringId ?? null;
  }

  private find(look: () => ListedRealm | undefined): RealmId | null | Promise<RealmId | null> {
    return this.believed(look)?.id ?? this.lookAgain(look).then((realm) => realm?.id ?? null);
  }

  /** That there is none is not kept at all: it may have been added just now. */
  private believed(look: () => ListedRealm | undefined): ListedRealm | undefined {
    return this.clock.nowMs() - this.readAtMs > BELIEVED_MS ? undefined : look();
  }

  private async lookAgain(look: () => ListedRealm | undefined): Promise<ListedRealm | undefined> {
    await this.refresh();
    return look();
  }

  private listed(stringId: string): ListedRealm | undefined {
    return this.byStringId.get(stringId);
  }

  /** Null: the public address itself, or a name outside it. */
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
