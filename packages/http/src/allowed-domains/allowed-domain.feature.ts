import { type AllowedDomainEventTypes, loadAllowedDomains } from '@parley/domain/realms';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { registerSection } from '../events/register-section.js';
import type { HttpFeature } from '../feature.js';
import * as wire from '../routing/wire-schema.js';
import { allowedDomain } from './allowed-domain.answers.js';
import { presentAllowedDomain } from './allowed-domain.presenters.js';
import { allowedDomainRoutes } from './allowed-domain.routes.js';

export const ALLOWED_DOMAINS = {
  routes: () => allowedDomainRoutes,
  events: {
    'allowed_domain.added': toAll('realm_domains', (event) => ({
      op: 'add',
      realm_domain: presentAllowedDomain(event),
    })),
    'allowed_domain.changed': toAll('realm_domains', (event) => ({
      op: 'change',
      realm_domain: presentAllowedDomain(event),
    })),
    'allowed_domain.removed': toAll('realm_domains', ({ domain }) => ({ op: 'remove', domain })),
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
