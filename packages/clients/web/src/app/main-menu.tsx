import { useLingui } from '@lingui/react';
import { Building2, Hash, LogOut, Settings, Users } from '../icons/icons.js';
import { Menu, MenuItem, MenuLine } from '../kit/menu.js';
import { useField, useServices } from '../services/context.js';
import { useThemeToggle } from '../services/theme.js';

/** Settings, theme and logout. */
export function MainMenu({ onLogOut }: { readonly onLogOut: (() => void) | undefined }) {
  const { i18n } = useLingui();
  const { navigation } = useServices();
  const theme = useThemeToggle();
  const isGuest = useField('is_guest') === true;
  const goTo = (hash: string) => () => navigation.navigate(hash);
  return (
    <Menu label={i18n._('Main menu')}>
      <MenuItem icon={Settings} onSelect={goTo('#settings')}>
        {i18n._('Settings')}
      </MenuItem>
      <MenuItem icon={Hash} onSelect={goTo('#channels/all')}>
        {i18n._('Channels')}
      </MenuItem>
      {!isGuest && (
        <>
          <MenuItem icon={Users} onSelect={goTo('#groups/all')}>
            {i18n._('Groups')}
          </MenuItem>
          <MenuItem icon={Building2} onSelect={goTo('#organization')}>
            {i18n._('Organization settings')}
          </MenuItem>
        </>
      )}
      <MenuLine />
      <MenuItem icon={theme.icon} onSelect={theme.run}>
        {theme.name}
      </MenuItem>
      {onLogOut && (
        <>
          <MenuLine />
          <MenuItem icon={LogOut} onSelect={onLogOut}>
            {i18n._('Log out')}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
