import { type DisplaySwitch, SwitchDisplay } from '@parley/domain/users';
import { badParameter } from '../kernel/errors.js';
import { MAX_TEXT_LENGTH } from '../kernel/limits.js';
import { TextParam } from '../kernel/params.js';
import { success, successSaying } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';

class ZcommandDto {
  @TextParam({ max: MAX_TEXT_LENGTH }) command!: string;
}

interface DisplayCommand {
  readonly settings: DisplaySwitch;
  /** What the display is called then. */
  readonly name: string;
  /** What leads back. */
  readonly opposite: string;
}

const DISPLAY_COMMANDS: Readonly<Record<string, DisplayCommand>> = {
  '/dark': { settings: { colorScheme: 'dark' }, name: 'dark theme', opposite: '/light' },
  '/light': { settings: { colorScheme: 'light' }, name: 'light theme', opposite: '/dark' },
  '/fluid-width': { settings: { fluidLayoutWidth: true }, name: 'fluid-width mode', opposite: '/fixed-width' },
  '/fixed-width': { settings: { fluidLayoutWidth: false }, name: 'fixed-width mode', opposite: '/fluid-width' },
};

export const zcommandRoutes: readonly Route[] = [
  // By hand: what it answers is shown to people in the envelope itself.
  route('POST', '/zcommand', {
    auth: 'user',
    dto: ZcommandDto,
    useCase: SwitchDisplay,
    answer: wire.fields({}),
    handle: async ({ caller, dto: { command }, useCase }) => {
      if (!command.startsWith('/')) throw badParameter('There should be a leading slash in the zcommand.');
      if (command === '/ping') return success();
      const found = Object.hasOwn(DISPLAY_COMMANDS, command) ? DISPLAY_COMMANDS[command]! : null;
      if (!found) throw badParameter(`No such command: ${command.slice(1)}`);
      const { settings, name, opposite } = found;
      const isChanged = await useCase.execute(caller, settings);
      return successSaying(
        isChanged ? `Changed to ${name}! To revert ${name}, type \`${opposite}\`.` : `You are still in ${name}.`,
      );
    },
  }),
];
