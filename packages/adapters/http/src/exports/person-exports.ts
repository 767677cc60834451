import type { PersonExportId } from '@parley/domain/exports';
import type { UserId } from '@parley/domain/kernel';
import {
  ListPersonExports,
  type PersonExportView,
  ReadPersonExport,
  RequestPersonExport,
} from '@parley/transfer/exports';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { serveFile } from '../files/serve-file.js';
import { IntegerParam, NoParameters, TextParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

const PERSON_EXPORT = wire.named(
  'PersonExport',
  wire.fields({
    id: wire.integer(),
    user_id: wire.integer(),
    requested_at: wire.number(),
    expires_at: wire.number(),
    next_at: wire.number(),
    status: wire.text(),
    size: wire.integer(),
  }),
);

const presentPersonExport = ({ id, personId, requestedAt, expiresAt, nextAt, status, size }: PersonExportView) => ({
  ...{ id, user_id: personId, requested_at: requestedAt, expires_at: expiresAt, next_at: nextAt, status, size },
});

class RequestPersonExportDto {
  @IntegerParam({ optional: true, description: 'Id of another user, for owners; default: the caller.' })
  user_id?: number;
  @TextParam({ max: 1000, description: 'Password of the caller; may be omitted shortly after a log-in.' }) password =
    '';
}

class ReadPersonExportDto {
  @IntegerParam({ description: 'Id of the copy.' }) export_id!: number;
}

const BY_HUMANS = { auth: 'user', scope: 'account', roleRequirements: ['human'], extension: 'extensions §12' } as const;

const personExportRoutes = (): readonly Route[] => [
  route('GET', '/export/users', {
    summary: 'List the copies of personal data that you requested',
    ...BY_HUMANS,
    dto: NoParameters,
    useCase: ListPersonExports,
    response: wire.fields({ exports: wire.listOf(PERSON_EXPORT) }),
    present: (views) => ({ exports: views.map(presentPersonExport) }),
  }),
  route('POST', '/export/users', {
    summary: 'Request a copy of personal data',
    ...BY_HUMANS,
    isExpensive: true,
    dto: RequestPersonExportDto,
    useCase: RequestPersonExport,
    toInput: ({ user_id, password }, { signal }, { userId }) => ({
      personId: (user_id ?? userId) as UserId,
      password,
      cancellation: signal,
    }),
    response: wire.fields({ export: PERSON_EXPORT }),
    present: (view) => ({ export: presentPersonExport(view) }),
  }),
  route('GET', '/export/users/:export_id/archive', {
    summary: 'Download a copy of personal data',
    withoutPage: 'addresses',
    // Pages link to the address, which frames load with their token.
    sessions: 'everywhere',
    ...BY_HUMANS,
    dto: ReadPersonExportDto,
    useCase: ReadPersonExport,
    response: 'bytes',
    // Generators of clients know no archives: described as bytes of any kind.
    handle: async ({ dto, request, caller, useCase }) =>
      serveFile(await useCase.execute(caller, { id: dto.export_id as PersonExportId }), request, true),
  }),
];

export const PERSON_EXPORTS = { tag: 'Users', routes: personExportRoutes } satisfies HttpFeature;
