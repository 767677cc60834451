import { useLingui } from '@lingui/react';
import { useCallback } from 'react';
import { useChat } from '../services/context.js';
import { useManagement } from '../services/use-management.js';
import { passwordUnlessRecent } from './fields.js';
import { ValuesDialog } from './form.js';
import { timeOf, useFetched } from './personal-lists.js';

/** Asks an owner for the name of a person before the erasure, and shows its progress afterwards. */
export function EraseDialog({ userId }: { readonly userId: number }) {
  const { i18n } = useLingui();
  const { state } = useChat();
  const { api } = useManagement();
  const fetch = useCallback(
    async () => (await api.get('/users/{user_id}/erasure', { user_id: userId })).erasure,
    [api, userId],
  );
  const [erasure] = useFetched(fetch);
  const name = state.people.peek(userId)?.user.full_name ?? '';
  const time = erasure && timeOf(erasure.requested_at, i18n);
  return (
    <ValuesDialog
      title={i18n._('Erase {name}?', { name })}
      action={i18n._('Erase')}
      isDangerous
      settings={[
        { name: 'everything_written', label: i18n._('Also delete all messages, reactions and votes'), kind: 'switch' },
        { name: 'name', label: i18n._('Type “{name}” to confirm', { name }), kind: 'text', maxLength: 100 },
        passwordUnlessRecent(i18n),
      ]}
      onSubmit={({ everything_written, name: typed, password }) =>
        api.post('/users/{user_id}/erasure', {
          user_id: userId,
          name: String(typed ?? ''),
          everything_written: everything_written === true,
          password: String(password ?? ''),
        })
      }
    >
      <p>
        {i18n._(
          'Name, address, settings and log-ins are deleted for good. Nobody can undo it. Messages stay, with the author “Deleted user”.',
        )}
      </p>
      {erasure && (
        <p role="status">
          {erasure.ended_at === null
            ? i18n._('Erased on {time}. The server is still deleting the rest.', { time })
            : i18n._('Erased on {time}.', { time })}
        </p>
      )}
    </ValuesDialog>
  );
}
