import { AddPlayground, RemovePlayground } from '@parley/domain/realms';
import { IntegerParam, TextParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';

/** A highlighter's name for a language (organization §7). */
const MAX_LANGUAGE_LENGTH = 40;
const TEXT = { max: 1000 };

class AddPlaygroundDto {
  @TextParam(TEXT) name!: string;
  @TextParam({ max: MAX_LANGUAGE_LENGTH, strip: true }) pygments_language!: string;
  @TextParam(TEXT) url_template!: string;
}

class RemovePlaygroundDto {
  @IntegerParam() playground_id!: number;
}

export const playgroundRoutes: readonly Route[] = [
  route('POST', '/realm/playgrounds', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: AddPlaygroundDto,
    useCase: AddPlayground,
    toInput: ({ name, pygments_language, url_template }) => ({
      name,
      language: pygments_language,
      urlTemplate: url_template,
    }),
    answer: wire.fields({ id: wire.integer() }),
    present: (id) => ({ id }),
  }),
  route('DELETE', '/realm/playgrounds/:playground_id', {
    auth: 'user',
    roleRequirements: ['administrator'],
    dto: RemovePlaygroundDto,
    useCase: RemovePlayground,
    toInput: ({ playground_id }) => ({ id: playground_id }),
  }),
];
