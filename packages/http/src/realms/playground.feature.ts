import { loadPlaygrounds, type Playground, type PlaygroundEventTypes } from '@parley/domain/realms';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { registerSection } from '../events/register-section.js';
import type { HttpFeature } from '../feature.js';
import { presentModelErrors } from '../kernel/model-errors.js';
import type { WireErrors } from '../kernel/wire-error.js';
import * as wire from '../kernel/wire-schema.js';
import { playgroundRoutes } from './playground.routes.js';

/** Organization §7. */
const presentPlaygrounds = (playgrounds: readonly Playground[]) => ({
  realm_playgrounds: playgrounds.map(({ id, name, language, urlTemplate }) => ({
    id,
    name,
    pygments_language: language,
    url_template: urlTemplate,
  })),
});

const playground = wire.named(
  'Playground',
  wire.fields({
    id: wire.integer(),
    name: wire.text(),
    pygments_language: wire.text(),
    url_template: wire.text(),
  }),
);

const FIELDS = { name: 'name', language: 'pygments_language', urlTemplate: 'url_template', general: '__all__' };

export const PLAYGROUNDS = {
  routes: () => playgroundRoutes,
  errors: {
    INVALID_PLAYGROUND: { fields: { errors: 'errors' }, present: { errors: presentModelErrors(FIELDS) } },
  } as const satisfies WireErrors,
  events: {
    'realm.playgrounds_changed': toAll(
      form('realm_playgrounds', { realm_playgrounds: wire.listOf(playground) }),
      ({ playgrounds }) => presentPlaygrounds(playgrounds),
    ),
  } satisfies Presenters<keyof PlaygroundEventTypes>,
  registerSections: () => [
    registerSection({
      name: 'realm_playgrounds',
      fields: { realm_playgrounds: wire.listOf(playground) },
      forSpectators: 'likeGuests',
      load: (snapshot) => snapshot.load(loadPlaygrounds),
      present: presentPlaygrounds,
    }),
  ],
} satisfies HttpFeature;
