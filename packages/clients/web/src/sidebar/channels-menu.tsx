import { useLingui } from '@lingui/react';
import { List, Plus } from '../icons/icons.js';
import { Menu, MenuItem } from '../kit/menu.js';
import { useComputed, useServices } from '../services/context.js';
import { useManagement } from '../services/use-management.js';

/** Browses or creates channels. */
export function ChannelsMenu() {
  const { i18n } = useLingui();
  const { navigation } = useServices();
  const { rights } = useManagement();
  const mayCreate = useComputed(() => rights.mayCreate('public') || rights.mayCreate('private'), [rights]);
  return (
    <Menu label={i18n._('Add channels')}>
      <MenuItem icon={List} onSelect={() => navigation.navigate('#channels/available')}>
        {i18n._('Browse channels')}
      </MenuItem>
      {mayCreate && (
        <MenuItem icon={Plus} onSelect={() => navigation.navigate('#channels/new')}>
          {i18n._('Create channel')}
        </MenuItem>
      )}
    </Menu>
  );
}
