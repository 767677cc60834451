import { DomainError } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { RealmRow, RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { foldCase, trim } from '../kernel/text.js';

/** Email domain allowed in a realm that restricts domains (organization §5). */
export interface AllowedDomain {
  /** In lower case; unique in the realm. */
  readonly domain: string;
  /** True to allow subdomains at any depth. */
  readonly allowsSubdomains: boolean;
}

/** Ids are unique on the server and never reused. */
export interface ListedDomain extends AllowedDomain, RealmRow {}

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

export const ALLOWED_DOMAIN_ROWS: RowRules<ListedDomain> = {
  kind: 'allowedDomain',
  owner: 'realm',
  order: ['id'],
  unique: {
    property: 'domain',
    taken: (domain) =>
      new DomainError('ALLOWED_DOMAIN_EXISTS', `The domain ${domain} is already a part of your organization.`),
  },
  exported: {
    noun: 'allowedDomain',
    shape: { domain: shape.name, allowsSubdomains: shape.flag },
    max: 10_000,
  },
};

/** Events sent to everyone (organization §5). */
export interface AllowedDomainEventTypes {
  'allowed_domain.added': AllowedDomain;
  'allowed_domain.changed': AllowedDomain;
  'allowed_domain.removed': { readonly domain: string };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    allowedDomains: [reads: RealmRowReads<ListedDomain>, repository: RealmRows<ListedDomain>];
  }
  interface DomainEventTypes extends AllowedDomainEventTypes {}
  interface RealmCopyParts {
    readonly allowedDomains: readonly Omit<ListedDomain, 'realmId'>[];
  }
  interface IdKindParts {
    allowedDomain: number;
  }
}

export const ALLOWED_DOMAIN_FEATURE = {
  eventFormats: {
    'allowed_domain.added': 1,
    'allowed_domain.changed': 1,
    'allowed_domain.removed': 1,
  },
  rows: { allowedDomains: ALLOWED_DOMAIN_ROWS },
} satisfies FeatureParts<AllowedDomainEventTypes>;
