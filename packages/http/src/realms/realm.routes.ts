import { CheckStringId, DeactivateRealm } from '@parley/domain/membership';
import { MAX_TOKEN_LENGTH } from '../kernel/limits.js';
import { NullableIntegerParam, TextParam } from '../kernel/params.js';
import { successSaying } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';

class DeactivateRealmDto {
  @NullableIntegerParam() deletion_delay_days: number | null = null;
}

class CheckStringIdDto {
  @TextParam({ max: MAX_TOKEN_LENGTH }) subdomain!: string;
}

export const realmRoutes: readonly Route[] = [
  route('POST', '/realm/deactivate', {
    auth: 'user',
    roleRequirements: ['owner'],
    dto: DeactivateRealmDto,
    useCase: DeactivateRealm,
    toInput: ({ deletion_delay_days }) => ({ deletionDelayDays: deletion_delay_days }),
  }),
  // By hand: what is to be said is the message of the envelope.
  route('GET', '/json/realm/subdomain/:subdomain', {
    auth: 'anyone',
    atRoot: true,
    dto: CheckStringIdDto,
    useCase: CheckStringId,
    answer: wire.fields({}),
    handle: async ({ caller, dto, useCase }) =>
      successSaying((await useCase.execute(caller, { stringId: dto.subdomain })) ?? 'available'),
  }),
];
