import { loadBots } from '@parley/domain/bots';
import { PresentedList } from '../events/register-answer.js';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { presentBot } from './bot.presenters.js';

export const botsSection: RegisterSection = registerSection({
  name: 'realm_bot',
  forSpectators: { realm_bots: [] },
  load: (snapshot) => snapshot.load(loadBots),
  present: (bots) => ({ realm_bots: new PresentedList(bots, presentBot) }),
});
