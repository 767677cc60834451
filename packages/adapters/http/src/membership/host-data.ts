import { type DataOwnerKind, type HostDataEventTypes, MAX_HOST_DATA_BYTES } from '@parley/domain/kernel';
import { type ChangedDataOwner, ListVisibleData, SetHostData } from '@parley/domain/membership';
import type { HttpFeature } from '../declarations/feature.js';
import { route } from '../declarations/route.js';
import { can, form, opened, type Presenters } from '../delivery/event-presenter.js';
import { APPLICATION_DATA } from '../messages/message.presenters.js';
import { asIs, type ParamType, recordOf } from '../params/param-types.js';
import { IntegerListParam, IntegerParam, param, WordParam } from '../params/params.js';
import { success } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

const KINDS = ['message', 'channel', 'user', 'realm'] as const satisfies readonly DataOwnerKind[];

/** Maximum number of objects per request, as for pages of messages that clients show. */
const MAX_OBJECTS = 1000;

/** Checked by the use case. */
const ANY_JSON: ParamType<unknown> = {
  decode: asIs,
  normalize: asIs,
  check: () => undefined,
  jsonLength: MAX_HOST_DATA_BYTES,
  schema: {},
};
/** An object of the maximum length has fewer members. */
const JSON_OBJECT = recordOf(ANY_JSON, { max: 1000, maxKeyLength: MAX_HOST_DATA_BYTES });

class GetDataDto {
  @WordParam(KINDS, { description: 'Kind of the objects.' }) object_type!: DataOwnerKind;
  @IntegerListParam({ max: MAX_OBJECTS, description: 'Ids of objects of this kind.' }) object_ids!: readonly number[];
}

class SetDataDto {
  @WordParam(['message', 'channel'], { description: 'Kind of the object.' }) object_type!: 'message' | 'channel';
  @IntegerParam({ description: 'Id of the object.' }) object_id!: number;
  @param(JSON_OBJECT, { description: `Replaces the former data; at most ${MAX_HOST_DATA_BYTES} bytes.` })
  data!: object;
  @IntegerParam({ optional: true, description: 'Version that the client has read.' }) expected_version?: number;
}

export const HOST_DATA = {
  tag: 'Bots and integrations',
  routes: () => [
    route('GET', '/application_data', {
      summary: 'Get data of the application that embeds the chat',
      extension: 'extensions §14',
      auth: 'user',
      scope: 'account',
      dto: GetDataDto,
      useCase: ListVisibleData,
      toInput: ({ object_type: kind, object_ids: ids }) => ({ kind, ids }),
      response: wire.fields({ objects: wire.listOf(wire.fields({ object_id: wire.integer(), ...APPLICATION_DATA })) }),
      present: (found) => ({
        objects: [...found]
          .sort(([a], [b]) => a - b)
          .map(([object_id, { data, version }]) => ({ object_id, data, version })),
      }),
    }),
    route('PATCH', '/application_data', {
      summary: 'Change data of the application that embeds the chat',
      extension: 'extensions §14',
      withoutPage: 'bots',
      auth: 'user',
      scope: 'account',
      dto: SetDataDto,
      useCase: SetHostData,
      response: wire.fields(APPLICATION_DATA),
      handle: async ({ caller, dto: { object_type: kind, object_id: id, data, expected_version }, useCase }) => {
        const owner = { kind, id, caller } as ChangedDataOwner;
        const expected = expected_version === undefined ? {} : { expectedVersion: expected_version };
        const changed = await useCase.execute({ owner, data, ...expected });
        return success({ data: changed.data, version: changed.version });
      },
    }),
  ],
  events: {
    'data.changed': {
      forms: [
        form('application_data', {
          object_type: wire.oneOf(...KINDS),
          object_id: wire.integer(),
          version: wire.integer(),
        }),
      ],
      present: ({ owner: { kind, id }, version }, context) =>
        can(context.presentation, 'application_data')
          ? context.shared('', () => opened({ type: 'application_data', object_type: kind, object_id: id, version }))
          : [],
    },
  } satisfies Presenters<keyof HostDataEventTypes>,
  errors: {
    DATA_VERSION_CONFLICT: { status: 409, code: 'DATA_VERSION_CONFLICT', fields: { version: 'version' } },
  },
} satisfies HttpFeature;
