import type { EventOf } from '@parley/domain/kernel';
import {
  AddLinkifier,
  ChangeLinkifier,
  type Linkifier,
  type LinkifierEventTypes,
  ListLinkifiers,
  RemoveLinkifier,
  ReorderLinkifiers,
} from '@parley/domain/realms';
import type { HttpFeature } from '../declarations/feature.js';
import { fixedSection, plainSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { can, form, opened, type Presenters } from '../delivery/event-presenter.js';
import { MAX_IDS } from '../params/param-types.js';
import {
  definedFields,
  IntegerListParam,
  IntegerParam,
  NoParameters,
  TextListParam,
  TextParam,
} from '../params/params.js';
import { presentModelErrors, type WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Implements organization §6. */
export const linkifier = wire.named(
  'Linkifier',
  wire.fields({
    pattern: wire.text(),
    url_template: wire.text(),
    id: wire.integer(),
    example_input: wire.nullable(wire.text()),
    reverse_template: wire.nullable(wire.text()),
    alternative_url_templates: wire.listOf(wire.text()),
  }),
);

/** Presents a linkifier with all keys (organization §6). */
export const presentLinkifier = (linkifier: Linkifier) => ({
  pattern: linkifier.pattern,
  url_template: linkifier.urlTemplate,
  id: linkifier.id,
  example_input: linkifier.exampleInput,
  reverse_template: linkifier.reverseTemplate,
  alternative_url_templates: linkifier.alternativeUrlTemplates,
});

const TEXT = { max: 1000 };
const MAX_ALTERNATIVES = 20;

class LinkifierDto {
  @TextParam({ ...TEXT, description: 'Regular expression (RE2).' }) pattern!: string;
  @TextParam(TEXT) url_template!: string;
  @TextParam({ ...TEXT, optional: true, description: 'Text that the pattern matches.' }) example_input?: string;
  @TextParam({ ...TEXT, optional: true, description: 'Template for converting a URL back to text.' })
  reverse_template?: string;
  @TextListParam({
    max: MAX_ALTERNATIVES,
    each: TEXT,
    optional: true,
    description: 'Additional templates for the reverse conversion from a URL.',
  })
  alternative_url_templates?: string[];
}

class ChangeLinkifierDto extends LinkifierDto {
  @IntegerParam() filter_id!: number;
}

class RemoveLinkifierDto {
  @IntegerParam() filter_id!: number;
}

class ReorderLinkifiersDto {
  @IntegerListParam({ max: MAX_IDS, description: 'All ids in the desired order.' }) ordered_linkifier_ids!: number[];
}

export const linkifierRoutes: readonly Route[] = [
  route('GET', '/realm/linkifiers', {
    summary: 'List linkifiers',
    section: 'organization §6',
    isStarred: true,
    withoutPage: 'state',
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    useCase: ListLinkifiers,
    response: wire.fields({ linkifiers: wire.listOf(linkifier) }),
    present: (linkifiers) => ({ linkifiers: linkifiers.map(presentLinkifier) }),
  }),
  route('PATCH', '/realm/linkifiers', {
    summary: 'Order the linkifiers',
    section: 'organization §6',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: ReorderLinkifiersDto,
    useCase: ReorderLinkifiers,
    toInput: ({ ordered_linkifier_ids }) => ({ ids: ordered_linkifier_ids }),
  }),
  route('POST', '/realm/filters', {
    summary: 'Add a linkifier',
    section: 'organization §6',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: LinkifierDto,
    useCase: AddLinkifier,
    toInput: (dto) => ({
      pattern: dto.pattern,
      urlTemplate: dto.url_template,
      exampleInput: dto.example_input ?? null,
      reverseTemplate: dto.reverse_template ?? null,
      alternativeUrlTemplates: dto.alternative_url_templates ?? [],
    }),
    response: wire.fields({ id: wire.integer() }),
    present: (id) => ({ id }),
  }),
  route('PATCH', '/realm/filters/:filter_id', {
    summary: 'Change a linkifier',
    section: 'organization §6',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: ChangeLinkifierDto,
    useCase: ChangeLinkifier,
    toInput: (dto) =>
      definedFields({
        id: dto.filter_id,
        pattern: dto.pattern,
        urlTemplate: dto.url_template,
        exampleInput: dto.example_input,
        reverseTemplate: dto.reverse_template,
        alternativeUrlTemplates: dto.alternative_url_templates,
      }),
  }),
  route('DELETE', '/realm/filters/:filter_id', {
    summary: 'Remove a linkifier',
    section: 'organization §6',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: RemoveLinkifierDto,
    useCase: RemoveLinkifier,
    toInput: ({ filter_id }) => ({ id: filter_id }),
  }),
];

/** Clients without this capability would misread a template as the older format, which is not supported. */
const CAPABILITY = 'linkifier_url_template';

const presentLinkifiers = ({ linkifiers }: EventOf<'realm.linkifiers_changed'>): string =>
  opened({ type: 'realm_linkifiers', realm_linkifiers: linkifiers.map(presentLinkifier) });

export const LINKIFIERS = {
  tag: 'Organization',
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
    // Legacy list from before templates; kept empty for clients that read it (organization §6).
    fixedSection('realm_filters', { realm_filters: wire.listOf(wire.anything()) }, { realm_filters: [] }),
  ],
} satisfies HttpFeature;
