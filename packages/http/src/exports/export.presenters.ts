import type { ExportType, ExportView } from '@parley/domain/exports';
import * as wire from '../kernel/wire-schema.js';

/** As clients spell what an export holds of private things. */
export const EXPORT_TYPE_NAMES: Readonly<Record<ExportType, string>> = {
  public: 'public',
  withConsent: 'full_with_consent',
  withoutConsent: 'full_without_consent',
};

export const EXPORT = wire.named(
  'DataExport',
  wire.fields({
    id: wire.integer(),
    acting_user_id: wire.integer(),
    export_time: wire.number(),
    deleted_timestamp: wire.nullable(wire.number()),
    failed_timestamp: wire.nullable(wire.number()),
    export_url: wire.nullable(wire.text()),
    pending: wire.boolean(),
    export_type: wire.text(),
  }),
);

/** Organization §8. `realmUrl`: without a slash at its end. */
export const presentExport = (view: ExportView, realmUrl: string) => ({
  id: view.id,
  acting_user_id: view.actingUserId,
  export_time: view.requestedAt,
  deleted_timestamp: view.deletedAt,
  failed_timestamp: view.failedAt,
  export_url: view.path === null ? null : `${realmUrl}${view.path}`,
  pending: view.isPending,
  export_type: EXPORT_TYPE_NAMES[view.type],
});
