import {
  AddLinkifier,
  ChangeLinkifier,
  ListLinkifiers,
  RemoveLinkifier,
  ReorderLinkifiers,
} from '@parley/domain/realms';
import { given } from '../kernel/given.js';
import { MAX_IDS } from '../kernel/limits.js';
import { IntegerListParam, IntegerParam, NoParameters, TextListParam, TextParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { linkifier } from './linkifier.answers.js';
import { presentLinkifier } from './linkifier.presenters.js';

const TEXT = { max: 1000 };
const MAX_ALTERNATIVES = 20;

class LinkifierDto {
  @TextParam(TEXT) pattern!: string;
  @TextParam(TEXT) url_template!: string;
  @TextParam({ ...TEXT, optional: true }) example_input?: string;
  @TextParam({ ...TEXT, optional: true }) reverse_template?: string;
  @TextListParam({ max: MAX_ALTERNATIVES, each: TEXT, optional: true }) alternative_url_templates?: string[];
}

class ChangeLinkifierDto extends LinkifierDto {
  @IntegerParam() filter_id!: number;
}

class RemoveLinkifierDto {
  @IntegerParam() filter_id!: number;
}

class ReorderLinkifiersDto {
  @IntegerListParam({ max: MAX_IDS }) ordered_linkifier_ids!: number[];
}

export const linkifierRoutes: readonly Route[] = [
  route('GET', '/realm/linkifiers', {
    auth: 'user',
    dto: NoParameters,
    useCase: ListLinkifiers,
    answer: wire.fields({ linkifiers: wire.listOf(linkifier) }),
    present: (linkifiers) => ({ linkifiers: linkifiers.map(presentLinkifier) }),
  }),
  route('PATCH', '/realm/linkifiers', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: ReorderLinkifiersDto,
    useCase: ReorderLinkifiers,
    toInput: ({ ordered_linkifier_ids }) => ({ ids: ordered_linkifier_ids }),
  }),
  route('POST', '/realm/filters', {
    auth: 'user',
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
    answer: wire.fields({ id: wire.integer() }),
    present: (id) => ({ id }),
  }),
  route('PATCH', '/realm/filters/:filter_id', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: ChangeLinkifierDto,
    useCase: ChangeLinkifier,
    toInput: (dto) =>
      given({
        id: dto.filter_id,
        pattern: dto.pattern,
        urlTemplate: dto.url_template,
        exampleInput: dto.example_input,
        reverseTemplate: dto.reverse_template,
        alternativeUrlTemplates: dto.alternative_url_templates,
      }),
  }),
  route('DELETE', '/realm/filters/:filter_id', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: RemoveLinkifierDto,
    useCase: RemoveLinkifier,
    toInput: ({ filter_id }) => ({ id: filter_id }),
  }),
];
