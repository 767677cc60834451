import type { UserId } from '@parley/domain/kernel';
import { type Erasure, GetErasure, RequestErasure } from '@parley/domain/membership';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { BooleanParam, IntegerParam, TextParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

const ERASURE = wire.fields({
  user_id: wire.integer(),
  requested_at: wire.integer(),
  ended_at: wire.nullable(wire.integer()),
  everything_written: wire.boolean(),
  removed_rows: wire.integer(),
  changed_texts: wire.integer(),
  held_texts: wire.integer(),
});

const presentErasure = (erasure: Erasure) => ({
  user_id: erasure.personId,
  requested_at: erasure.requestedAt,
  ended_at: erasure.endedAt,
  everything_written: erasure.everythingWritten,
  removed_rows: erasure.removedRows,
  changed_texts: erasure.changedTexts,
  held_texts: erasure.heldTexts,
});

class ErasedPersonDto {
  @IntegerParam({ description: 'Id of the person.' }) user_id!: number;
}

class RequestErasureDto extends ErasedPersonDto {
  @TextParam({ max: MAX_TEXT_LENGTH, description: 'Current name of the person, as a confirmation.' }) name!: string;
  @BooleanParam({ description: 'True to delete all messages of the person too.' }) everything_written = false;
  @TextParam({ max: 1000, description: 'Password of the caller; may be omitted shortly after a log-in.' }) password =
    '';
}

const BY_OWNERS = { auth: 'user', scope: 'account', roleRequirements: ['owner'], extension: 'extensions §19' } as const;

const erasureRoutes = (): readonly Route[] => [
  route('POST', '/users/:user_id/erasure', {
    summary: 'Erase a person for good',
    ...BY_OWNERS,
    dto: RequestErasureDto,
    useCase: RequestErasure,
    toInput: ({ user_id, name, everything_written, password }, { signal }) => ({
      personId: user_id as UserId,
      name,
      everythingWritten: everything_written,
      password,
      cancellation: signal,
    }),
    response: wire.fields({ erasure: ERASURE }),
    present: (erasure) => ({ erasure: presentErasure(erasure) }),
  }),
  route('GET', '/users/:user_id/erasure', {
    summary: 'Get the progress of an erasure',
    ...BY_OWNERS,
    dto: ErasedPersonDto,
    useCase: GetErasure,
    toInput: ({ user_id }) => ({ personId: user_id as UserId }),
    response: wire.fields({ erasure: wire.nullable(ERASURE) }),
    present: (erasure) => ({ erasure: erasure && presentErasure(erasure) }),
  }),
];

export const ERASURES = { tag: 'Users', routes: erasureRoutes } satisfies HttpFeature;
