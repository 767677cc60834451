import { useLingui } from '@lingui/react';
import { Building2, Hash, LogOut, Moon, Settings, Sun, Users } from 'lucide-react';
import { Menu, MenuItem, MenuLine } from '../kit/menu.js';
import { useField, useServices } from '../services/context.js';
import { useTheme } from '../services/theme.js';

/** Settings, theme and logout. */
export function MainMenu({ onLogOut }: { readonly onLogOut: (() => void) | undefined }) {
  const { i18n } = useLingui();
  const { navigation } = useServices();
  const [theme, toggleTheme] = useTheme();
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
      <MenuItem icon={theme === 'dark' ? Sun : Moon} onSelect={toggleTheme}>
        {theme === 'dark' ? i18n._('Light theme') : i18n._('Dark theme')}
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
