import { loadBots } from '@parley/domain/membership';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { PresentedList } from '../kernel/json-lists.js';
import * as wire from '../kernel/wire-schema.js';
import { bot } from './bot.answers.js';
import { presentBot } from './bot.presenters.js';

export const botsSection: RegisterSection = registerSection({
  name: 'realm_bot',
  fields: { realm_bots: wire.listOf(bot) },
  forSpectators: { realm_bots: [] },
  load: (snapshot) => snapshot.load(loadBots),
  present: (bots) => ({ realm_bots: new PresentedList(bots, presentBot) }),
});
