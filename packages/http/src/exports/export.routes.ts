import {
  DeleteExport,
  type ExportType,
  ListExportConsents,
  ListExports,
  ReadExport,
  RequestExport,
} from '@parley/domain/exports';
import type { ExportId } from '@parley/domain/kernel';
import type { RouteParts } from '../feature.js';
import { serveFile } from '../files/serve-file.js';
import { unknownPath } from '../kernel/errors.js';
import { PresentedList, presentLongList } from '../kernel/json-lists.js';
import { IntegerParam, NoParameters, TextParam, WordParam } from '../kernel/params.js';
import { success } from '../kernel/reply.js';
import { type Context, type Route, route } from '../kernel/route.js';
import { Turns } from '../kernel/turns.js';
import * as wire from '../kernel/wire-schema.js';
import { USER_SETTING_FORMS } from '../users/user-settings.wire.js';
import { EXPORT, EXPORT_TYPE_NAMES, presentExport } from './export.presenters.js';

class RequestExportDto {
  @WordParam(Object.values(EXPORT_TYPE_NAMES)) export_type = 'public';
}

class DeleteExportDto {
  @IntegerParam() export_id!: number;
}

class ReadExportDto {
  @TextParam({ max: 1000 }) path_id!: string;
}

const BY_ADMINISTRATORS = { auth: 'user', roleRequirements: ['administrator'] } as const;

/** Organization §8. */
export function exportRoutes({ publicRealms }: Pick<RouteParts, 'publicRealms'>): readonly Route[] {
  const turns = new Turns();
  return [
    route('GET', '/export/realm', {
      ...BY_ADMINISTRATORS,
      dto: NoParameters,
      useCase: ListExports,
      answer: wire.fields({ exports: wire.listOf(EXPORT) }),
      handle: async ({ caller, useCase }: Context<'user', NoParameters, ListExports>) => {
        const views = await useCase.execute(caller);
        const { url } = await publicRealms.of(caller.realmId);
        return success({ exports: views.map((view) => presentExport(view, url)) });
      },
    }),
    route('POST', '/export/realm', {
      ...BY_ADMINISTRATORS,
      dto: RequestExportDto,
      useCase: RequestExport,
      toInput: ({ export_type }) => ({ type: typeNamed(export_type) }),
      answer: wire.fields({ id: wire.integer() }),
      present: ({ id }) => ({ id }),
    }),
    route('DELETE', '/export/realm/:export_id', {
      ...BY_ADMINISTRATORS,
      dto: DeleteExportDto,
      useCase: DeleteExport,
      toInput: ({ export_id }) => ({ id: export_id as ExportId }),
    }),
    route('GET', '/export/realm/consents', {
      ...BY_ADMINISTRATORS,
      dto: NoParameters,
      useCase: ListExportConsents,
      answer: wire.fields({
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
          turns,
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
    route('GET', '/user_avatars/exports/*path_id', {
      auth: 'anyone',
      atRoot: true,
      limit: 'none',
      dto: ReadExportDto,
      useCase: ReadExport,
      answer: 'bytes',
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
