import type { EventOf } from '@parley/domain/kernel';
import type { LinkifierEventTypes } from '@parley/domain/realms';
import { form } from '../events/event-forms.js';
import { opened, type Presenters } from '../events/event-presenter.js';
import { can } from '../events/queue-presentation.js';
import { fixedSection, plainSection } from '../events/register-section.js';
import type { HttpFeature } from '../feature.js';
import { presentModelErrors } from '../kernel/model-errors.js';
import type { WireErrors } from '../kernel/wire-error.js';
import * as wire from '../kernel/wire-schema.js';
import { linkifier } from './linkifier.answers.js';
import { presentLinkifier } from './linkifier.presenters.js';
import { linkifierRoutes } from './linkifier.routes.js';

/** Clients without it would take a template for the form before it, which is gone. */
const CAPABILITY = 'linkifier_url_template';

const presentLinkifiers = ({ linkifiers }: EventOf<'realm.linkifiers_changed'>): string =>
  opened({ type: 'realm_linkifiers', realm_linkifiers: linkifiers.map(presentLinkifier) });

export const LINKIFIERS = {
  routes: () => linkifierRoutes,
  errors: {
    INVALID_LINKIFIER: {
      fields: { errors: 'errors' },
      present: {
        errors: presentModelErrors({ pattern: 'pattern', urlTemplate: 'url_template', general: '__all__' }),
      },
    },
  } as const satisfies WireErrors,
  events: {
    'realm.linkifiers_changed': {
      forms: [form('realm_linkifiers', { realm_linkifiers: wire.listOf(linkifier) })],
      present: (event, context) =>
        can(context.presentation, CAPABILITY) ? context.shared('', () => presentLinkifiers(event)) : [],
    },
  } satisfies Presenters<keyof LinkifierEventTypes>,
  registerSections: () => [
    plainSection(
      'realm_linkifiers',
      { realm_linkifiers: wire.listOf(linkifier) },
      ({ realm, presentation }) => ({
        realm_linkifiers: can(presentation, CAPABILITY) ? realm.linkifiers.map(presentLinkifier) : [],
      }),
      'likeGuests',
    ),
    // What there was before templates; kept for clients that look for it (organization §6).
    fixedSection('realm_filters', { realm_filters: wire.listOf(wire.anything()) }, { realm_filters: [] }),
  ],
} satisfies HttpFeature;
