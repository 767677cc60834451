import { AddAllowedDomain, ChangeAllowedDomain, ListAllowedDomains, RemoveAllowedDomain } from '@parley/domain/realms';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { BooleanParam, NoParameters, TextParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { allowedDomain } from './allowed-domain.answers.js';
import { presentAllowedDomain } from './allowed-domain.presenters.js';

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
    auth: 'user',
    dto: NoParameters,
    useCase: ListAllowedDomains,
    answer: wire.fields({ domains: wire.listOf(allowedDomain) }),
    present: (domains) => ({ domains: domains.map(presentAllowedDomain) }),
  }),
  route('POST', '/realm/domains', {
    auth: 'user',
    roleRequirements: ['owner'],
    dto: AddAllowedDomainDto,
    useCase: AddAllowedDomain,
    toInput: ({ domain, allow_subdomains }) => ({ domain, allowsSubdomains: allow_subdomains }),
    answer: wire.fields({ new_domain: wire.listOf(wire.anyOf(wire.integer(), wire.text())) }),
    present: ({ id, domain }) => ({ new_domain: [id, domain] }),
  }),
  route('PATCH', '/realm/domains/:domain', {
    auth: 'user',
    roleRequirements: ['owner'],
    dto: ChangeAllowedDomainDto,
    useCase: ChangeAllowedDomain,
    toInput: ({ domain, allow_subdomains }) => ({ domain, allowsSubdomains: allow_subdomains }),
  }),
  route('DELETE', '/realm/domains/:domain', {
    auth: 'user',
    roleRequirements: ['owner'],
    dto: RemoveAllowedDomainDto,
    useCase: RemoveAllowedDomain,
    toInput: ({ domain }) => ({ domain }),
  }),
];
