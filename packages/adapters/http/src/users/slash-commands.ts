import { type DisplaySwitch, SwitchDisplay } from '@parley/domain/users';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { MAX_TEXT_LENGTH } from '../params/param-types.js';
import { TextParam } from '../params/params.js';
import { badParameter, success, successSaying } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

class ZcommandDto {
  @TextParam({ max: MAX_TEXT_LENGTH, description: 'The slash command.' }) command!: string;
}

interface DisplayCommand {
  readonly settings: DisplaySwitch;
  /** New display mode as shown to the user. */
  readonly name: string;
  /** Command that reverts the change. */
  readonly opposite: string;
}

const DISPLAY_COMMANDS: Readonly<Record<string, DisplayCommand>> = {
  '/dark': { settings: { colorScheme: 'dark' }, name: 'dark theme', opposite: '/light' },
  '/light': { settings: { colorScheme: 'light' }, name: 'light theme', opposite: '/dark' },
  '/fluid-width': { settings: { fluidLayoutWidth: true }, name: 'fluid-width mode', opposite: '/fixed-width' },
  '/fixed-width': { settings: { fluidLayoutWidth: false }, name: 'fixed-width mode', opposite: '/fluid-width' },
};

const slashCommandRoutes: readonly Route[] = [
  // Custom handler, because the result is the envelope's message to the user.
  route('POST', '/zcommand', {
    summary: 'Run a slash command that changes display settings',
    section: 'messages §15.2',
    withoutPage: 'bots',
    auth: 'user',
    scope: 'account',
    dto: ZcommandDto,
    useCase: SwitchDisplay,
    response: wire.fields({}),
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

export const SLASH_COMMANDS = { tag: 'Messages', routes: () => slashCommandRoutes } satisfies HttpFeature;
