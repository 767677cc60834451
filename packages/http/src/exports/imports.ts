import { ListImports, RequestUndoImport } from '@parley/domain/exports';
import type { ImportBatchId } from '@parley/domain/kernel';
import type { HttpFeature } from '../kernel/feature.js';
import { IntegerParam, NoParameters } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';

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

class UndoImportDto {
  @IntegerParam({ description: 'Id of the import.' }) import_id!: number;
}

const BY_OWNERS = { auth: 'user', roleRequirements: ['owner'] } as const;

const importRoutes = (): readonly Route[] => [
  route('GET', '/realm/imports', {
    summary: 'List imports from other systems',
    extension: 'extensions §11',
    ...BY_OWNERS,
    dto: NoParameters,
    useCase: ListImports,
    response: wire.fields({ imports: wire.listOf(IMPORT) }),
    present: (batches) => ({
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
];

export const IMPORTS = { tag: 'Organization', routes: importRoutes } satisfies HttpFeature;
