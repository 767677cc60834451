import { isIP } from 'node:net';
import type { Clock, Realm, RealmAddresses, RealmId, UnitOfWork } from '@parley/domain';
import type { RealmDirectory } from '@parley/http';

type ListedRealm = Pick<Realm, 'id' | 'stringId'>;

export interface AddressBookOptions {
  /** The public address. */
  readonly url: string;
  /**
   * String id of the realm at the public address itself; null: the root one, else the only one there is. With several
   * realms and neither, the public address belongs to none.
   */
  readonly defaultRealm: string | null;
}

/** Other processes may add realms too, so what was read is not believed for long. */
const BELIEVED_MS = 1000;

/** Which realm a host name belongs to, and under which address a realm is reached (architecture §8). */
export class RealmAddressBook implements RealmAddresses, RealmDirectory {
  private readonly base: URL;
  private realms: readonly ListedRealm[] = [];
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly options: AddressBookOptions,
  ) {
    this.base = new URL(options.url);
  }

  /** To be called before `urlOf` is. */
  async refresh(): Promise<void> {
    this.realms = await this.uow.read(({ realms }) => realms.list());
    this.readAtMs = this.clock.nowMs();
  }

  urlOf({ stringId }: Pick<Realm, 'stringId'>): string {
    const { protocol, host, pathname } = this.base;
    return `${protocol}//${this.subdomainFor(stringId)}${host}${pathname.replace(/\/+$/, '')}`;
  }

  mailHostOf({ stringId }: Pick<Realm, 'stringId'>): string {
    const { hostname } = this.base;
    // An address must end in a domain name; neither IP addresses nor `localhost` are one.
    if (isIP(hostname) !== 0 || !hostname.includes('.')) return 'parley.invalid';
    return this.subdomainFor(stringId) + hostname;
  }

  private subdomainFor(stringId: string): string {
    return this.isAtRoot(stringId) ? '' : `${stringId}.`;
  }

  private isAtRoot(stringId: string): boolean {
    // One that was not there yet when the list was read, and was empty, is the only one.
    if (stringId === '' || this.realms.length === 0) return true;
    return stringId === this.options.defaultRealm || stringId === this.defaultRealm()?.stringId;
  }

  async findRealm(host: string): Promise<RealmId | null> {
    const subdomain = this.subdomainOf(host);
    return this.find(() => (subdomain === null ? this.defaultRealm() : this.listed(subdomain)));
  }

  async findByStringId(stringId: string): Promise<RealmId | null> {
    return this.find(() => this.listed(stringId));
  }

  private async find(look: () => ListedRealm | undefined): Promise<RealmId | null> {
    if (this.clock.nowMs() - this.readAtMs > BELIEVED_MS) await this.refresh();
    // That there is none is not believed at all: it may have been added just now.
    else if (!look()) await this.refresh();
    return look()?.id ?? null;
  }

  private listed(stringId: string): ListedRealm | undefined {
    return this.realms.find((realm) => realm.stringId === stringId);
  }

  /** Null: the public address itself, or a name outside it. */
  private subdomainOf(host: string): string | null {
    const suffix = `.${this.base.hostname}`;
    if (isIP(this.base.hostname) !== 0 || !host.endsWith(suffix)) return null;
    const subdomain = host.slice(0, -suffix.length);
    return subdomain === 'www' ? null : subdomain;
  }

  private defaultRealm(): ListedRealm | undefined {
    const { defaultRealm } = this.options;
    return this.listed(defaultRealm ?? '') ?? (this.realms.length === 1 ? this.realms[0] : undefined);
  }
}
