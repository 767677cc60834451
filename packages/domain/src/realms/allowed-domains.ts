import { DomainError } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { RealmPart } from '../kernel/export-parts.js';
import type { RealmId } from '../kernel/ids.js';
import * as shape from '../kernel/shape.js';
import { foldCase, trim } from '../kernel/text.js';

/** Email domain allowed in a realm that restricts domains (organization §5). */
export interface AllowedDomain {
  /** In lower case; unique in the realm. */
  readonly domain: string;
  /** True to allow subdomains at any depth. */
  readonly allowsSubdomains: boolean;
}

export interface ListedDomain extends AllowedDomain {
  readonly id: number;
}

/** Limit, because every joining email is compared with all domains and every client receives all. */
export const MAX_ALLOWED_DOMAINS = 1000;
/** In code points. */
const MAX_DOMAIN_LENGTH = 80;

/**
 * Trims a domain and converts it to lower case. @throws DomainError INVALID_DOMAIN, with the reasons in the order of
 * organization §5
 */
export function parseDomain(raw: string): string {
  const domain = foldCase(trim(raw));
  const reason = faultOf(domain);
  if (reason !== null) throw new DomainError('INVALID_DOMAIN', `Invalid domain: ${reason}`);
  return domain;
}

function faultOf(domain: string): string | null {
  if (domain === '') return "Domain can't be empty.";
  if (!domain.includes('.')) return 'Domain must have at least one dot (.)';
  if (domain.length > MAX_DOMAIN_LENGTH) return 'Domain is too long';
  if (domain.startsWith('.') || domain.endsWith('.')) return 'Domain cannot start or end with a dot (.)';
  for (const label of domain.split('.')) {
    if (label === '') return "Consecutive '.' are not allowed.";
    if (label.startsWith('-') || label.endsWith('-')) return "Subdomains cannot start or end with a '-'.";
    if (!/^[a-z0-9-]*$/.test(label)) return "Domain can only have letters, numbers, '.' and '-'s.";
  }
  return null;
}

/** @throws DomainError TOO_MANY_ALLOWED_DOMAINS */
export function requireRoomForDomain(count: number): void {
  if (count < MAX_ALLOWED_DOMAINS) return;
  throw new DomainError('TOO_MANY_ALLOWED_DOMAINS', `Too many domains (limit: ${MAX_ALLOWED_DOMAINS}).`);
}

export const unknownDomain = (domain: string): DomainError =>
  new DomainError('UNKNOWN_ALLOWED_DOMAIN', `No entry found for domain ${domain}.`);

export interface AllowedDomainReads {
  /** Returns domains in order of addition. */
  list(realmId: RealmId): Promise<readonly ListedDomain[]>;
}

/** Every implementation passes realm-lists.contract.ts. */
export interface AllowedDomainRepository extends AllowedDomainReads {
  /** Returns the id, which is unique on the server and never reused. @throws DomainError ALLOWED_DOMAIN_EXISTS */
  add(realmId: RealmId, domain: AllowedDomain): Promise<number>;
  /** Returns true if the domain existed. */
  update(realmId: RealmId, domain: AllowedDomain): Promise<boolean>;
  /** Returns true if the domain existed. */
  remove(realmId: RealmId, domain: string): Promise<boolean>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    allowedDomains: [reads: AllowedDomainReads, repository: AllowedDomainRepository];
  }
}

/** Events sent to everyone (organization §5). */
export interface AllowedDomainEventTypes {
  'allowed_domain.added': AllowedDomain;
  'allowed_domain.changed': AllowedDomain;
  'allowed_domain.removed': { readonly domain: string };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends AllowedDomainEventTypes {}
}

declare module '../kernel/export-parts.js' {
  interface RealmCopy {
    readonly allowedDomains: readonly ListedDomain[];
  }
  interface IdKinds {
    allowedDomain: number;
  }
}

const realmPart: RealmPart<'allowedDomains'> = {
  none: { allowedDomains: [] },
  idKinds: ['allowedDomain'],
  shapes: {
    allowedDomains: shape.list(
      shape.object({ id: shape.integer, domain: shape.name, allowsSubdomains: shape.flag }),
      10_000,
    ),
  },
  read: async (reads, realmId) => ({ allowedDomains: await reads.allowedDomains.list(realmId) }),
  async add(tx, { allowedDomains }, ids) {
    await ids.addAll(tx, 'allowedDomain', 'allowedDomain', allowedDomains, (it) =>
      tx.allowedDomains.add(ids.realmId, it),
    );
  },
};

export const ALLOWED_DOMAIN_FEATURE = {
  eventFormats: {
    'allowed_domain.added': 1,
    'allowed_domain.changed': 1,
    'allowed_domain.removed': 1,
  },
  realmPart,
} satisfies FeatureParts<AllowedDomainEventTypes>;
