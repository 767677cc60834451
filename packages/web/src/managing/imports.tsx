import { useLingui } from '@lingui/react';
import type { Import } from '@parley/client';
import { useCallback } from 'react';
import { Loading } from '../kit/loading.js';
import { useManagement } from '../services/use-management.js';
import { Collection } from './collection.js';
import { useFetched } from './personal-lists.js';

/** Imports from other systems, for owners. */
export function Imports() {
  const { i18n } = useLingui();
  const { api } = useManagement();
  const fetch = useCallback(async () => (await api.get('/realm/imports', {})).imports, [api]);
  const [imports, reload] = useFetched(fetch);
  if (!imports) return <Loading />;
  const states: Readonly<Record<string, string>> = {
    running: i18n._('in progress'),
    undoing: i18n._('being undone'),
    undone: i18n._('undone'),
  };
  const stateOf = ({ status, message_count: count }: Import) =>
    states[status] ?? i18n._('{count, plural, one {# message} other {# messages}}', { count });
  return (
    <Collection<Import>
      label={i18n._('Imports')}
      hint={i18n._('Message histories that the operator imported from other systems.')}
      none={i18n._('There are no imports.')}
      items={imports}
      keyOf={({ id }) => id}
      nameOf={({ source }) => source}
      detailOf={(each) => (
        <>
          {i18n.date(new Date(each.started_at * 1000), { dateStyle: 'medium', timeStyle: 'short' })} · {stateOf(each)}
        </>
      )}
      remove={{
        action: i18n._('Undo'),
        text: i18n._('All imported messages are deleted, except those that people answered, edited or reacted to.'),
        // Also continues an interrupted undo, and cancels an import.
        mayRemove: ({ status }) => status !== 'undone',
        onConfirm: async ({ id }) => {
          await api.post('/realm/imports/{import_id}/undo', { import_id: id });
          reload();
        },
      }}
    />
  );
}
