import { route } from '../declarations/route.js';
import { eventSchema, form, formWithout } from '../delivery/event-presenter.js';
import { json, listOf, oneOf } from '../params/param-types.js';
import { IntegerParam, param, TextParam } from '../params/params.js';
import { success } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { writeClientApi } from './client-api.js';
import { openApiOf } from './openapi.js';

class ThingDto {
  @IntegerParam() thing_id!: number;
  @TextParam({ max: 9, optional: true }) note?: string;
  @param(json(oneOf(['big', 'small'])), { optional: true }) size?: string;
  @param(listOf(oneOf(['a', 'b']), { max: 9 }), { optional: true }) letters?: string[];
}

const handle = async () => success();

it('writeClientApi writes all parameters, and omits the envelope from responses', () => {
  const response = wire.fields({
    things: wire.listOf(wire.named('Thing', wire.fields({ id: wire.integer(), "it's": wire.nullable(wire.text()) }))),
    more: wire.optional(wire.dictionaryOf(wire.anything())),
  });
  const written = writeClientApi(
    openApiOf([
      route('PATCH', '/things/:thing_id', {
        summary: 'Does something',
        section: 'messages §1',
        auth: 'user',
        scope: 'account',
        dto: ThingDto,
        response,
        handle,
      }),
      route('GET', '/pictures/:thing_id', {
        summary: 'Does something',
        section: 'messages §1',
        auth: 'user',
        scope: 'account',
        dto: ThingDto,
        response: 'bytes',
        handle,
      }),
      route('GET', '/elsewhere', {
        summary: 'Does something',
        section: 'messages §1',
        auth: 'user',
        scope: 'account',
        atRoot: true,
        dto: ThingDto,
        response,
        handle,
      }),
    ]),
  );
  expect(written).toBe(`// Made of the route table by \`write-api.mjs\`: change that instead.

export type Thing = {
  id: number;
  'it\\'s': string | null;
};

export interface Operations {
  'PATCH /things/{thing_id}': {
    params: {
      thing_id: number;
      note?: string;
      size?: 'big' | 'small';
      letters?: readonly ('a' | 'b')[];
    };
    answer: {
      things: Thing[];
      more?: Record<string, unknown>;
    };
  };
}

/** Parameters that hold JSON although their values may be text, so clients must quote them. */
export const JSON_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'PATCH /things/{thing_id}': ['size'],
};
`);
});

it('writeClientApi omits deprecated forms for older clients', () => {
  const event = eventSchema([
    form('gone', { ids: wire.listOf(wire.integer()) }),
    formWithout('many_at_once', 'gone', { id_of_one: wire.integer() }),
    form('heartbeat'),
  ]);
  const response = wire.fields({ events: wire.listOf(event) });
  const written = writeClientApi(
    openApiOf([
      route('GET', '/events', {
        summary: 'Does something',
        section: 'messages §1',
        auth: 'user',
        scope: 'account',
        dto: ThingDto,
        response,
        handle,
      }),
    ]),
  );
  expect(written).toContain(`export type GoneEvent = {
  id: number;
  type: 'gone';
  ids: number[];
};

export type HeartbeatEvent = {
  id: number;
  type: 'heartbeat';
};

export type Event = GoneEvent | HeartbeatEvent;
`);
});
