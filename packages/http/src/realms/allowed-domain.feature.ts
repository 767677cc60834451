import { type AllowedDomainEventTypes, loadAllowedDomains } from '@parley/domain/realms';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { registerSection } from '../events/register-section.js';
import type { HttpFeature } from '../feature.js';
import * as wire from '../kernel/wire-schema.js';
import { allowedDomain } from './allowed-domain.answers.js';
import { presentAllowedDomain } from './allowed-domain.presenters.js';
import { allowedDomainRoutes } from './allowed-domain.routes.js';

export const ALLOWED_DOMAINS = {
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
