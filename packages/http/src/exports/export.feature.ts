import type { ExportEventTypes } from '@parley/domain/exports';
import { form } from '../events/event-forms.js';
import { opened, type Presenters } from '../events/event-presenter.js';
import type { HttpFeature } from '../feature.js';
import * as wire from '../kernel/wire-schema.js';
import { EXPORT, presentExport } from './export.presenters.js';
import { exportRoutes } from './export.routes.js';

export const EXPORTS = {
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
