import type { Realm, ServerAddress } from '@parley/domain/realms';
import type { AddressedRealm, Clock, RealmId, RealmUrls, UnitOfWork } from '@parley/domain/shared';
import type { RealmDirectory } from '@parley/http';

type ListedRealm = Pick<Realm, 'id' | 'stringId' | 'isAtServerAddress'>;

export interface RealmResolverOptions {
  /** The public address. */
  readonly url: string;
  /** String id of the realm at the public address itself, while there is such a realm; else the one that was made there. */
  readonly defaultRealm: string | null;
}

/** What may be said of an address before there is any realm. */
export function serverAddressOf({ url, defaultRealm }: RealmResolverOptions): ServerAddress {
  return { defaultRealm, hasSubdomains: !isIpAddress(new URL(url).hostname) };
}

/** Of a parsed URL, which spells addresses in one way. `isIP` of Node takes three milliseconds of a start. */
const isIpAddress = (hostname: string): boolean => hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname);

/** Other processes may add realms too, so what was read is kept for a short time only. */
const BELIEVED_MS = 1000;

/** Which realm a host name belongs to, and under which address a realm is reached (architecture §8). */
export class RealmResolver implements RealmUrls, RealmDirectory {
  private readonly base: URL;
  private realms: readonly ListedRealm[] = [];
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly options: RealmResolverOptions,
  ) {
    this.base = new URL(options.url);
  }

  /** To be called before `urlOf` is. */
  async refresh(): Promise<void> {
    this.realms = await this.uow.read(({ realms }) => realms.list());
    this.readAtMs = this.clock.nowMs();
  }

  urlOf(realm: AddressedRealm): string {
    const { protocol, host, pathname } = this.base;
    return `${protocol}//${this.subdomainFor(realm)}${host}${pathname.replace(/\/+$/, '')}`;
  }

  emailDomainOf(realm: AddressedRealm): string {
    const { hostname } = this.base;
    // An address must end in a domain name; neither IP addresses nor `localhost` are one.
    if (isIpAddress(hostname) || !hostname.includes('.')) return 'parley.invalid';
    return this.subdomainFor(realm) + hostname;
  }

  private subdomainFor(realm: AddressedRealm): string {
    return realm.stringId === '' || this.isAtServerAddress(realm) ? '' : `${realm.stringId}.`;
  }

  private isAtServerAddress({ stringId, isAtServerAddress }: AddressedRealm): boolean {
    return stringId === this.options.defaultRealm || (isAtServerAddress && !this.chosenRealm());
  }

  async findRealm(host: string): Promise<RealmId | null> {
    const subdomain = this.subdomainOf(host);
    return this.find(() => (subdomain === null ? this.defaultRealm() : this.listed(subdomain)));
  }

  async findByStringId(stringId: string): Promise<RealmId | null> {
    return this.find(() => this.listed(stringId));
  }

  /** Null: there is none. */
  async stringIdOf(id: RealmId): Promise<string | null> {
    return (await this.lookUp(() => this.realms.find((realm) => realm.id === id)))?.stringId ?? null;
  }

  private async find(look: () => ListedRealm | undefined): Promise<RealmId | null> {
    return (await this.lookUp(look))?.id ?? null;
  }

  private async lookUp(look: () => ListedRealm | undefined): Promise<ListedRealm | undefined> {
    if (this.clock.nowMs() - this.readAtMs > BELIEVED_MS) await this.refresh();
    // That there is none is not kept at all: it may have been added just now.
    else if (!look()) await this.refresh();
    return look();
  }

  private listed(stringId: string): ListedRealm | undefined {
    return this.realms.find((realm) => realm.stringId === stringId);
  }

  /** Null: the public address itself, or a name outside it. */
  private subdomainOf(host: string): string | null {
    const suffix = `.${this.base.hostname}`;
    if (isIpAddress(this.base.hostname) || !host.endsWith(suffix)) return null;
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
