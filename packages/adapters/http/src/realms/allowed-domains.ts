import {
  AddAllowedDomain,
  type AllowedDomain,
  type AllowedDomainEventTypes,
  ChangeAllowedDomain,
  ListAllowedDomains,
  loadAllowedDomains,
  RemoveAllowedDomain,
} from '@parley/domain/realms';
import type { HttpFeature } from '../declarations/feature.js';
import { registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { BooleanParam, NoParameters, TextParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

/** Organization §5. */
export const allowedDomain = wire.named(
  'AllowedDomain',
  wire.fields({ domain: wire.text(), allow_subdomains: wire.boolean() }),
);

/** Organization §5. */
export const presentAllowedDomain = ({ domain, allowsSubdomains }: AllowedDomain) => ({
  domain,
  allow_subdomains: allowsSubdomains,
});

class AddAllowedDomainDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) domain!: string;
  @BooleanParam() allow_subdomains!: boolean;
}

class ChangeAllowedDomainDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) domain!: string;
  @BooleanParam() allow_subdomains!: boolean;
}

class RemoveAllowedDomainDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) domain!: string;
}

export const allowedDomainRoutes: readonly Route[] = [
  route('GET', '/realm/domains', {
    summary: 'List allowed email domains',
    section: 'organization §5',
    withoutPage: 'state',
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    useCase: ListAllowedDomains,
    response: wire.fields({ domains: wire.listOf(allowedDomain) }),
    present: (domains) => ({ domains: domains.map(presentAllowedDomain) }),
  }),
  route('POST', '/realm/domains', {
    summary: 'Allow an email domain',
    section: 'organization §5',
    isStarred: true,
    auth: 'user',
    scope: 'account',
    roleRequirements: ['owner'],
    dto: AddAllowedDomainDto,
    useCase: AddAllowedDomain,
    toInput: ({ domain, allow_subdomains }) => ({ domain, allowsSubdomains: allow_subdomains }),
    response: wire.fields({ new_domain: wire.listOf(wire.anyOf(wire.integer(), wire.text())) }),
    present: ({ id, domain }) => ({ new_domain: [id, domain] }),
  }),
  route('PATCH', '/realm/domains/:domain', {
    summary: 'Change an allowed email domain',
    section: 'organization §5',
    withoutPage: 'others',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['owner'],
    dto: ChangeAllowedDomainDto,
    useCase: ChangeAllowedDomain,
    toInput: ({ domain, allow_subdomains }) => ({ domain, allowsSubdomains: allow_subdomains }),
  }),
  route('DELETE', '/realm/domains/:domain', {
    summary: 'Remove an allowed email domain',
    section: 'organization §5',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['owner'],
    dto: RemoveAllowedDomainDto,
    useCase: RemoveAllowedDomain,
    toInput: ({ domain }) => ({ domain }),
  }),
];

export const ALLOWED_DOMAINS = {
  tag: 'Organization',
  routes: () => allowedDomainRoutes,
  events: {
    'allowed_domain.added': toAll(
      form('realm_domains', { op: wire.oneOf('add'), realm_domain: allowedDomain }),
      (event) => ({
        op: 'add',
        realm_domain: presentAllowedDomain(event),
      }),
    ),
    'allowed_domain.changed': toAll(
      form('realm_domains', { op: wire.oneOf('change'), realm_domain: allowedDomain }),
      (event) => ({
        op: 'change',
        realm_domain: presentAllowedDomain(event),
      }),
    ),
    'allowed_domain.removed': toAll(
      form('realm_domains', { op: wire.oneOf('remove'), domain: wire.text() }),
      ({ domain }) => ({ op: 'remove', domain }),
    ),
  } satisfies Presenters<keyof AllowedDomainEventTypes>,
  registerSections: () => [
    registerSection({
      name: 'realm_domains',
      fields: { realm_domains: wire.listOf(allowedDomain) },
      forSpectators: { realm_domains: [] },
      load: (snapshot) => snapshot.load(loadAllowedDomains),
      present: (domains) => ({ realm_domains: domains.map(presentAllowedDomain) }),
    }),
  ],
} satisfies HttpFeature;
