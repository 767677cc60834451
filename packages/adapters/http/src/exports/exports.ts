import type { ExportEventTypes, ExportType, ExportView } from '@parley/domain/exports';
import type { ExportId } from '@parley/domain/kernel';
import { DeleteExport, ListExportConsents, ListExports, ReadExport, RequestExport } from '@parley/transfer/exports';
import type { HttpFeature, RouteParts } from '../declarations/feature.js';
import { type Context, type Route, route } from '../declarations/route.js';
import { form, opened, type Presenters } from '../delivery/event-presenter.js';
import { serveFile } from '../files/serve-file.js';
import { YieldingScheduler } from '../limits/yielding.js';
import { PresentedList, presentLongList } from '../params/json-lists.js';
import { IntegerParam, NoParameters, TextParam, WordParam } from '../params/params.js';
import { USER_SETTING_FORMS } from '../users/user-settings.js';
import { success, unknownPath } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Wire name of each export type. */
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

/** Presents an export (organization §8). `realmUrl` has no trailing slash. */
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

class RequestExportDto {
  @WordParam(Object.values(EXPORT_TYPE_NAMES), { description: 'Data to export, as a number.' }) export_type = 'public';
}

class DeleteExportDto {
  @IntegerParam({ description: 'Id of the export.' }) export_id!: number;
}

class ReadExportDto {
  @TextParam({ max: 1000 }) path_id!: string;
}

const BY_ADMINISTRATORS = { auth: 'user', scope: 'account', roleRequirements: ['administrator'] } as const;

/** Implements organization §8. */
export function exportRoutes(parts: Pick<RouteParts, 'publicRealms'>): readonly Route[] {
  return [...archiveRoutes(parts), ...consentRoutes(), ...downloadRoutes()];
}

function archiveRoutes({ publicRealms }: Pick<RouteParts, 'publicRealms'>): readonly Route[] {
  return [
    route('GET', '/export/realm', {
      summary: 'List exports',
      section: 'organization §8',
      ...BY_ADMINISTRATORS,
      dto: NoParameters,
      useCase: ListExports,
      response: wire.fields({ exports: wire.listOf(EXPORT) }),
      handle: async ({ caller, useCase }: Context<'user', NoParameters, ListExports>) => {
        const views = await useCase.execute(caller);
        const { url } = await publicRealms.of(caller.realmId);
        return success({ exports: views.map((view) => presentExport(view, url)) });
      },
    }),
    route('POST', '/export/realm', {
      summary: 'Start an export',
      section: 'organization §8',
      ...BY_ADMINISTRATORS,
      dto: RequestExportDto,
      useCase: RequestExport,
      toInput: ({ export_type }) => ({ type: typeNamed(export_type) }),
      response: wire.fields({ id: wire.integer() }),
      present: ({ id }) => ({ id }),
    }),
    route('DELETE', '/export/realm/:export_id', {
      summary: 'Delete an export',
      section: 'organization §8',
      ...BY_ADMINISTRATORS,
      dto: DeleteExportDto,
      useCase: DeleteExport,
      toInput: ({ export_id }) => ({ id: export_id as ExportId }),
    }),
  ];
}

function consentRoutes(): readonly Route[] {
  const scheduler = new YieldingScheduler();
  return [
    route('GET', '/export/realm/consents', {
      summary: 'List users who consent to the export of their private data',
      section: 'organization §8',
      ...BY_ADMINISTRATORS,
      dto: NoParameters,
      useCase: ListExportConsents,
      response: wire.fields({
        export_consents: wire.listOf(
          wire.fields({
            user_id: wire.integer(),
            consented: wire.boolean(),
            email_address_visibility: wire.integer(),
          }),
        ),
      }),
      present: (consents) =>
        presentLongList(
          scheduler,
          'export_consents',
          new PresentedList(consents, ({ userId, isGiven, emailAddressVisibility }) => ({
            user_id: userId,
            consented: isGiven,
            email_address_visibility: USER_SETTING_FORMS.presentValue(
              'emailAddressVisibility',
              emailAddressVisibility,
            ) as number,
          })),
        ),
    }),
  ];
}

function downloadRoutes(): readonly Route[] {
  return [
    route('GET', '/user_avatars/exports/*path_id', {
      summary: 'Download an export',
      section: 'organization §8',
      tag: 'Files',
      auth: 'anyone',
      atRoot: true,
      limit: 'none',
      dto: ReadExportDto,
      useCase: ReadExport,
      response: 'bytes',
      handle: async ({ dto, request, caller, useCase }) => {
        const archive = await useCase.execute(caller, { pathId: dto.path_id });
        if (!archive) throw unknownPath();
        return serveFile(archive, request, true);
      },
    }),
  ];
}

const typeNamed = (name: string): ExportType =>
  (Object.keys(EXPORT_TYPE_NAMES) as ExportType[]).find((type) => EXPORT_TYPE_NAMES[type] === name)!;

export const EXPORTS = {
  tag: 'Organization',
  routes: exportRoutes,
  events: {
    'exports.changed': {
      forms: [form('realm_export', { exports: wire.listOf(EXPORT) })],
      present: ({ exports }, context) => {
        const { url } = context.publicRealm;
        return context.shared('', () =>
          opened({ type: 'realm_export', exports: exports.map((view) => presentExport(view, url)) }),
        );
      },
    },
  } satisfies Presenters<keyof ExportEventTypes>,
} satisfies HttpFeature;
