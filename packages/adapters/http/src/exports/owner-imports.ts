import { MAX_CLAIM_BY_LENGTH } from '@parley/domain/exports';
import type { ImportBatchId } from '@parley/domain/kernel';
import {
  CheckImport,
  DiscardImport,
  ListImports,
  type ListImportsOutput,
  type RequestedImport,
  RequestUndoImport,
  StartImport,
} from '@parley/transfer/imports';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { BooleanParam, IntegerParam, NoParameters, TextParam } from '../params/params.js';
import { type Reply, success } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

const IMPORT = wire.named(
  'Import',
  wire.fields({
    id: wire.integer(),
    source: wire.text(),
    started_at: wire.number(),
    status: wire.text(),
    message_count: wire.integer(),
  }),
);

const IMPORT_RUN = wire.named(
  'ImportRun',
  wire.fields({
    name: wire.nullable(wire.text()),
    status: wire.text(),
    started_at: wire.number(),
    report: wire.nullable(wire.text()),
    report_path_id: wire.nullable(wire.text()),
    problem: wire.nullable(wire.text()),
  }),
);

const presentRun = ({ startedAt, reportPathId, ...run }: NonNullable<ListImportsOutput['run']>) => ({
  ...run,
  started_at: startedAt,
  report_path_id: reportPathId,
});

/** Names the uploaded files in the audit line. */
const audited = ({ file, peopleFile, claimBy }: RequestedImport): Reply => ({
  ...success(),
  audit: { file, ...(peopleFile !== null && { people_file: peopleFile }), claim_by: claimBy },
});

const PATH = { max: 1000 };

class CheckImportDto {
  @TextParam({ ...PATH, description: 'Path of an uploaded export, without `/user_uploads/`.' }) path_id!: string;
  @TextParam({
    ...PATH,
    optional: true,
    description: 'Path of an uploaded CSV file with the accounts of people, without `/user_uploads/`.',
  })
  people_path_id?: string;
  @TextParam({
    max: MAX_CLAIM_BY_LENGTH,
    description: 'Identities that claim the account of a person who cannot log in, such as `email,keycloak`.',
  })
  claim_by = '';
  @BooleanParam({
    description: 'Whether public channels stay public although members who are not in the source can read them.',
  })
  share_public = false;
}

class UndoImportDto {
  @IntegerParam({ description: 'Id of the import.' }) import_id!: number;
}

const BY_OWNERS = { auth: 'user', scope: 'account', roleRequirements: ['owner'] } as const;

const importRoutes = (): readonly Route[] => [
  route('GET', '/realm/imports', {
    summary: 'List imports from other systems',
    extension: 'extensions §11',
    ...BY_OWNERS,
    dto: NoParameters,
    useCase: ListImports,
    response: wire.fields({
      imports: wire.listOf(IMPORT),
      run: wire.nullable(IMPORT_RUN),
      accepts_uploads: wire.boolean(),
    }),
    present: ({ batches, run, acceptsUploads }) => ({
      run: run && presentRun(run),
      accepts_uploads: acceptsUploads,
      imports: batches.map(({ id, source, startedAt, status, messages }) => ({
        ...{ id, source, status, started_at: startedAt, message_count: messages },
      })),
    }),
  }),
  route('POST', '/realm/imports/:import_id/undo', {
    summary: 'Remove the messages of an import',
    extension: 'extensions §11',
    ...BY_OWNERS,
    dto: UndoImportDto,
    useCase: RequestUndoImport,
    toInput: ({ import_id }) => ({ batchId: import_id as ImportBatchId }),
  }),
  route('POST', '/realm/imports/run', {
    summary: 'Check an uploaded export by a dry run',
    extension: 'extensions §11',
    ...BY_OWNERS,
    dto: CheckImportDto,
    useCase: CheckImport,
    response: wire.fields({}),
    handle: async ({ caller, dto: { path_id, people_path_id = null, claim_by, share_public }, useCase }) => {
      const files = { pathId: path_id, peoplePathId: people_path_id };
      return audited(await useCase.execute(caller, { ...files, claimBy: claim_by, sharesPublic: share_public }));
    },
  }),
  route('POST', '/realm/imports/run/start', {
    summary: 'Import an export that passed the dry run',
    extension: 'extensions §11',
    ...BY_OWNERS,
    dto: NoParameters,
    useCase: StartImport,
    response: wire.fields({}),
    handle: async ({ caller, useCase }) => audited(await useCase.execute(caller)),
  }),
  route('DELETE', '/realm/imports/run', {
    summary: 'Discard an uploaded export',
    extension: 'extensions §11',
    ...BY_OWNERS,
    dto: NoParameters,
    useCase: DiscardImport,
  }),
];

export const IMPORTS = { tag: 'Organization', routes: importRoutes } satisfies HttpFeature;
