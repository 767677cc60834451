import {
  AddPlayground,
  loadPlaygrounds,
  type Playground,
  type PlaygroundEventTypes,
  RemovePlayground,
} from '@parley/domain/realms';
import type { HttpFeature } from '../declarations/feature.js';
import { registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { IntegerParam, TextParam } from '../params/params.js';
import { presentModelErrors, type WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Maximum length of a language name of the syntax highlighter (organization §7). */
const MAX_LANGUAGE_LENGTH = 40;
const TEXT = { max: 1000 };

class AddPlaygroundDto {
  @TextParam(TEXT) name!: string;
  @TextParam({ max: MAX_LANGUAGE_LENGTH, strip: true, description: 'Language of the code blocks.' })
  pygments_language!: string;
  @TextParam(TEXT) url_template!: string;
}

class RemovePlaygroundDto {
  @IntegerParam({ description: 'Id of the playground.' }) playground_id!: number;
}

export const playgroundRoutes: readonly Route[] = [
  route('POST', '/realm/playgrounds', {
    summary: 'Add a code playground',
    section: 'organization §7',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: AddPlaygroundDto,
    useCase: AddPlayground,
    toInput: ({ name, pygments_language, url_template }) => ({
      name,
      language: pygments_language,
      urlTemplate: url_template,
    }),
    response: wire.fields({ id: wire.integer() }),
    present: (id) => ({ id }),
  }),
  route('DELETE', '/realm/playgrounds/:playground_id', {
    summary: 'Remove a code playground',
    section: 'organization §7',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: RemovePlaygroundDto,
    useCase: RemovePlayground,
    toInput: ({ playground_id }) => ({ id: playground_id }),
  }),
];

/** Implements organization §7. */
const presentPlaygrounds = (playgrounds: readonly Omit<Playground, 'realmId'>[]) => ({
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
  tag: 'Organization',
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
      forTokens: 'likeAccount',
      load: (snapshot) => snapshot.load(loadPlaygrounds),
      present: presentPlaygrounds,
    }),
  ],
} satisfies HttpFeature;
