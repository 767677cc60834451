import type { ExportEventTypes } from '@parley/domain/exports';
import { opened, type Presenters } from '../events/event-presenter.js';
import type { HttpFeature } from '../feature.js';
import { presentExport } from './export.presenters.js';
import { exportRoutes } from './export.routes.js';

export const EXPORTS = {
  routes: exportRoutes,
  events: {
    'exports.changed': {
      wireTypes: ['realm_export'],
      present: ({ exports }, context) => {
        const { url } = context.publicRealm;
        return context.shared('', () =>
          opened({ type: 'realm_export', exports: exports.map((view) => presentExport(view, url)) }),
        );
      },
    },
  } satisfies Presenters<keyof ExportEventTypes>,
} satisfies HttpFeature;
