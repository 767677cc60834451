import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { loadOptional } from '@parley/domain/kernel';
import type { DirectoryPerson, DirectoryPicture, PeopleDirectory } from '@parley/domain/log-in';
import { type RoleMapping, statedRole } from '@parley/domain/membership';
import type { Client, Entry, Filter } from 'ldapts';

/** LDAP server configured by the operator. */
export interface LdapAccount {
  /** Unique and stable, since linked accounts refer to it: letters, digits and hyphens. */
  readonly name: string;
  /** String id of the organization. */
  readonly realm: string;
  /** `ldaps://…` or `ldap://…`. */
  readonly url: string;
  /** True to encrypt the connection to an `ldap://` address. */
  readonly startTls: boolean;
  /** Path of CA certificates (PEM) that must have signed the server's certificate; null for the system's CAs. */
  readonly caFile: string | null;
  /** DN for searches; null to search anonymously. */
  readonly bindDn: string | null;
  readonly bindPassword: string | null;
  /** Path of the password file, read for each connection. */
  readonly bindPasswordFile: string | null;
  readonly baseDn: string;
  /** Selects user entries. */
  readonly userFilter: string;
  readonly attributes: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    /** Attribute with the picture's bytes; null for no pictures. */
    readonly picture: string | null;
  };
  /** Null if groups are not used. */
  readonly groups: LdapGroups | null;
  readonly createsPeople: boolean;
  /** Minutes between synchronizations; 0 for none. */
  readonly syncMinutes: number;
}

/** Groups that admit users and determine roles, by name. */
export interface LdapGroups extends RoleMapping {
  readonly baseDn: string;
  readonly filter: string;
  /** Group attribute with the members' DNs. */
  readonly memberAttribute: string;
  readonly nameAttribute: string;
  /** Users must be in at least one of these groups; empty for no restriction. */
  readonly required: readonly string[];
}

type Library = typeof import('ldapts');

const CONNECT_MS = 5000;
/** Timeout for one operation, such as a search page. */
const OPERATION_MS = 15_000;
const PAGE_SIZE = 500;
/** Maximum number of users in a directory; more indicate a filter that is too wide. */
const MAX_PEOPLE = 100_000;
const MAX_GROUPS = 10_000;

/** Creates directories for the accounts. Loads the library only if there are any. @throws MissingLibrary */
export async function ldapDirectories(accounts: readonly LdapAccount[]): Promise<readonly PeopleDirectory[]> {
  if (accounts.length === 0) return [];
  const library = await loadOptional('ldapts', 'ldap', () => import('ldapts'));
  return accounts.map((account) => new LdapDirectory(account, library));
}

/** Searches as a configured entry and verifies passwords by binding as the user (RFC 4511). */
class LdapDirectory implements PeopleDirectory {
  readonly name: string;
  readonly realm: string;
  readonly createsPeople: boolean;
  readonly syncMinutes: number;
  readonly hasPictures: boolean;

  constructor(
    private readonly account: LdapAccount,
    private readonly library: Library,
  ) {
    ({
      name: this.name,
      realm: this.realm,
      createsPeople: this.createsPeople,
      syncMinutes: this.syncMinutes,
    } = account);
    this.hasPictures = account.attributes.picture !== null;
  }

  async authenticate(email: string, password: string): Promise<DirectoryPerson | null> {
    // Servers accept any name with an empty password as an anonymous bind.
    if (password === '') return null;
    return this.connected(async (client) => {
      const { attributes, groups } = this.account;
      const { EqualityFilter } = this.library;
      // Filter objects escape special characters in the address.
      const filter = this.people(new EqualityFilter({ attribute: attributes.email, value: email }));
      const { searchEntries } = await client.search(this.account.baseDn, { ...this.search(filter), sizeLimit: 2 });
      const [entry] = searchEntries;
      // Directories ignore invisible characters, so the address is compared again, ignoring letter case.
      const isSame = (value: string | Buffer) => String(value).toLowerCase() === email.toLowerCase();
      if (searchEntries.length !== 1 || ![entry![attributes.email] ?? []].flat().some(isSame)) return null;
      const person = groups ? await this.personIn(client, groups, entry!) : this.personOf(entry!, []);
      if (!person) return null;
      return (await this.bindsAs(entry!.dn, password)) ? person : null;
    });
  }

  /** Users can log in even if their groups are unreadable, unless a group is required. */
  private async personIn(client: Client, groups: LdapGroups, entry: Entry): Promise<DirectoryPerson | null> {
    try {
      return this.personOf(entry, await this.groupsOf(client, groups, entry.dn));
    } catch (error) {
      if (groups.required.length > 0) throw error;
      const person = this.personOf(entry, []);
      const problem = `The groups cannot be read: ${reasonOf(error as Error)}. The role is unchanged.`;
      return person && { ...person, role: null, problem };
    }
  }

  listPeople(): Promise<readonly DirectoryPerson[]> {
    return this.connected(async (client) => {
      const { groups, baseDn } = this.account;
      const memberships = groups ? await this.memberships(client, groups) : new Map<string, string[]>();
      const people: DirectoryPerson[] = [];
      const pages = client.searchPaginated(baseDn, { ...this.search(this.people()), paged: { pageSize: PAGE_SIZE } });
      for await (const { searchEntries } of pages) {
        for (const entry of searchEntries) {
          const person = this.personOf(entry, memberships.get(normalized(entry.dn)) ?? []);
          if (person) people.push(person);
        }
        if (people.length > MAX_PEOPLE) throw new Error(`The directory has more than ${MAX_PEOPLE} people`);
      }
      return people;
    });
  }

  findPicture(subject: string, maxBytes: number): Promise<DirectoryPicture | null> {
    return this.connected(async (client) => {
      const { id, picture } = this.account.attributes;
      const value = isBinary(id) ? Buffer.from(subject, 'hex') : subject;
      const filter = this.people(new this.library.EqualityFilter({ attribute: id, value }));
      const only = { attributes: [picture!], explicitBufferAttributes: [picture!] };
      const { searchEntries } = await client.search(this.account.baseDn, { ...this.search(filter), ...only });
      const bytes = [searchEntries[0]?.[picture!] ?? []].flat()[0];
      if (!(bytes instanceof Buffer) || bytes.length === 0) return null;
      if (bytes.length > maxBytes) throw new RangeError('The picture is too large');
      return { bytes, digest: createHash('sha256').update(bytes).digest('hex') };
    });
  }

  async check(): Promise<string> {
    const { groups } = this.account;
    if (groups) {
      const memberships = await this.connected((client) =>
        this.memberships(client, groups).catch((error: Error) => {
          const reason = GROUP_REASONS[error.name];
          throw reason === undefined ? error : new Error(reason, { cause: error });
        }),
      );
      const found = new Set([...memberships.values()].flat());
      const { required } = groups;
      if (required.length > 0 && !required.some((name) => found.has(name)))
        throw new Error(`no group ${required.join(' or ')} with members is below groups.baseDn; check groups`);
    }
    const people = await this.listPeople();
    if (people.length === 0) {
      throw new Error('the connection works, but no entry matches; check baseDn, userFilter, attributes and groups');
    }
    return `${people.length} people`;
  }

  private search(filter: Filter) {
    const { id, email, name } = this.account.attributes;
    return {
      scope: 'sub' as const,
      filter,
      attributes: [id, email, name],
      explicitBufferAttributes: isBinary(id) ? [id] : [],
      timeLimit: OPERATION_MS / 1000,
    };
  }

  private people(...more: readonly Filter[]): Filter {
    const { AndFilter, FilterParser } = this.library;
    return new AndFilter({ filters: [FilterParser.parseString(this.account.userFilter), ...more] });
  }

  /** Returns null for entries without an id or email address, and for users outside the required groups. */
  private personOf(entry: Entry, groupNames: readonly string[]): DirectoryPerson | null {
    const { attributes, groups } = this.account;
    const subject = textOf(entry[attributes.id]);
    const email = textOf(entry[attributes.email]);
    if (subject === null || email === null) return null;
    const required = groups?.required ?? [];
    if (required.length > 0 && !required.some((name) => groupNames.includes(name))) return null;
    const role = groups && statedRole(groupNames, groups);
    return { subject, email: email.trim(), fullName: textOf(entry[attributes.name]) ?? '', role };
  }

  private async groupsOf(client: Client, groups: LdapGroups, dn: string): Promise<readonly string[]> {
    const { AndFilter, EqualityFilter, FilterParser } = this.library;
    const member = new EqualityFilter({ attribute: groups.memberAttribute, value: dn });
    const filter = new AndFilter({ filters: [FilterParser.parseString(groups.filter), member] });
    const { searchEntries } = await client.search(groups.baseDn, { filter, attributes: [groups.nameAttribute] });
    if (searchEntries.length === 0) await this.requireGroups(client, groups);
    return searchEntries.flatMap((entry) => textOf(entry[groups.nameAttribute]) ?? []);
  }

  /**
   * Ensures that groups exist, since users would otherwise appear to have left all of them. @throws Error if there is
   * no group at all
   */
  private async requireGroups(client: Client, { baseDn, filter }: LdapGroups): Promise<void> {
    const pages = client.searchPaginated(baseDn, { filter, attributes: ['1.1'], paged: { pageSize: 1 } });
    for await (const { searchEntries } of pages) if (searchEntries.length > 0) return;
    throw noGroups();
  }

  /** Returns group names by member DN. */
  private async memberships(client: Client, groups: LdapGroups): Promise<ReadonlyMap<string, string[]>> {
    const { baseDn, filter, memberAttribute, nameAttribute } = groups;
    const attributes = [nameAttribute, memberAttribute];
    const needed: { readonly name: string; readonly entry: Entry }[] = [];
    let count = 0;
    for await (const { searchEntries } of client.searchPaginated(baseDn, {
      filter,
      attributes,
      paged: { pageSize: 50 },
    })) {
      for (const entry of searchEntries) {
        if (++count > MAX_GROUPS) throw new Error(`The directory has more than ${MAX_GROUPS} groups`);
        const name = textOf(entry[nameAttribute]);
        if (name !== null && (groups.required.includes(name) || groups.roles.has(name))) needed.push({ name, entry });
      }
    }
    if (count === 0) throw noGroups();
    const found = new Map<string, string[]>();
    for (const { name, entry } of needed) {
      for (const dn of await this.membersOf(client, entry, memberAttribute)) {
        const key = normalized(dn);
        const names = found.get(key);
        if (names) names.push(name);
        else found.set(key, [name]);
      }
    }
    return found;
  }

  /** Active Directory returns at most 1,500 members at a time, as `member;range=0-1499`. */
  private async membersOf(client: Client, group: Entry, attribute: string): Promise<readonly string[]> {
    const members = valuesOf(group, attribute);
    let entry: Entry | undefined = group;
    let next = 0;
    for (let range = rangeOf(group, attribute); range !== null; range = entry ? rangeOf(entry, attribute) : null) {
      if (range.first !== next) break;
      members.push(...valuesOf(entry!, range.name));
      if (range.last === null) return members;
      next = range.last + 1;
      const options = { scope: 'base' as const, attributes: [`${attribute};range=${next}-*`] };
      [entry] = (await client.search(group.dn, options)).searchEntries;
    }
    if (next > 0) throw new Error(`only ${next} members of ${group.dn} can be read`);
    return members;
  }

  private async bindsAs(dn: string, password: string): Promise<boolean> {
    const client = await this.open();
    try {
      await client.bind(dn, password);
      return true;
    } catch (error) {
      if (error instanceof this.library.InvalidCredentialsError) return false;
      throw error;
    } finally {
      // The connection is not used again; a failed unbind closes it too.
      await client.unbind().catch(() => {});
    }
  }

  private async connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.open();
    try {
      const { bindDn, bindPassword, bindPasswordFile } = this.account;
      const password = bindPasswordFile === null ? bindPassword : readFileSync(bindPasswordFile, 'utf8').trimEnd();
      if (bindDn !== null) await client.bind(bindDn, password ?? '');
      return await work(client);
    } catch (error) {
      throw new Error(reasonOf(error as Error), { cause: error });
    } finally {
      // The connection is not used again; a failed unbind closes it too.
      await client.unbind().catch(() => {});
    }
  }

  private async open(): Promise<Client> {
    const { url, startTls, caFile } = this.account;
    const tlsOptions = {
      servername: new URL(url).hostname,
      minVersion: 'TLSv1.2',
      ...(caFile !== null && { ca: readFileSync(caFile) }),
    } as const;
    const isSecure = url.startsWith('ldaps:');
    const client = new this.library.Client({
      url,
      connectTimeout: CONNECT_MS,
      timeout: OPERATION_MS,
      ...(isSecure && { tlsOptions }),
    });
    if (startTls) {
      try {
        await client.startTLS(tlsOptions);
      } catch (error) {
        // The caller gets the error of the encryption.
        await client.unbind().catch(() => {});
        throw error;
      }
    }
    return client;
  }
}

/** Explanations by error name, since the message is only a code. */
const REASONS: Readonly<Record<string, string>> = {
  InvalidCredentialsError: 'it rejects bindDn with its password',
  NoSuchObjectError: 'baseDn does not exist, or bindDn may not read it',
  InappropriateAuthError: 'it rejects anonymous searches; set bindDn',
  InsufficientAccessError: 'bindDn may not search there',
};

const GROUP_REASONS: Readonly<Record<string, string>> = {
  NoSuchObjectError: 'groups.baseDn does not exist, or bindDn may not read it',
  InsufficientAccessError: 'bindDn may not search groups.baseDn',
};

const noGroups = () => new Error('no entry matches groups.baseDn and groups.filter');

/** Describes an error for the operator. */
function reasonOf(error: Error): string {
  const { name, message } = error instanceof AggregateError ? (error.errors[0] as Error) : error;
  return REASONS[name] ?? (name === 'Error' ? message : `${name}: ${message}`);
}

/** True for the binary identifier of Active Directory. */
const isBinary = (attribute: string): boolean => attribute.toLowerCase() === 'objectguid';

/** Returns the first value of an attribute; bytes as hexadecimal. */
function textOf(value: Entry[string] | undefined): string | null {
  const first = Array.isArray(value) ? value[0] : value;
  if (first === undefined || first.length === 0) return null;
  return typeof first === 'string' ? first : first.toString('hex');
}

const valuesOf = (entry: Entry, attribute: string): string[] => [entry[attribute] ?? []].flat().map(String);

interface MemberRange {
  /** Attribute name including the range option. */
  readonly name: string;
  readonly first: number;
  /** Index of the last value; null if no values follow. */
  readonly last: number | null;
}

/** Returns the range of an attribute in an entry; null if the entry has all values or none. */
function rangeOf(entry: Entry, attribute: string): MemberRange | null {
  for (const name of Object.keys(entry)) {
    const [, of, first, last] = /^([^;]+);range=(\d+)-(\d+|\*)$/i.exec(name) ?? [];
    if (of?.toLowerCase() !== attribute.toLowerCase()) continue;
    return { name, first: Number(first), last: last === '*' ? null : Number(last) };
  }
  return null;
}

/** Normalizes a DN: letter case, spaces around commas and the escaping style do not matter. */
const normalized = (dn: string): string =>
  dn
    .replace(/(?:\\[\da-f]{2})+/gi, (run) =>
      Buffer.from(run.replaceAll('\\', ''), 'hex')
        .toString('utf8')
        .replace(/[,+"\\<>;=]/g, '\\$&'),
    )
    .replace(/\\.|\s*,\s*/gs, (match) => (match.startsWith('\\') ? match : ','))
    .toLowerCase();
