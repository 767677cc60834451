/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Potvrďte svou adresu pro {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Registrujete se do {organization}. Potvrďte, že jde o vaši adresu, a pokračujte.',
  'The link expires after one day.': 'Platnost odkazu vyprší po jednom dni.',
  'Complete registration': 'Dokončit registraci',
  'If you did not request this, ignore this email.': 'Pokud jste o to nežádali, tento e-mail ignorujte.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Někdo se přihlásil do {organization} přes službu, která tuto adresu neověřila. Potvrďte, že je vaše, a přihlaste se znovu.',
  'Confirm this address': 'Potvrdit tuto adresu',
  'Confirm your new address for {name}': 'Potvrďte svou novou adresu pro {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Měníte adresu svého účtu v {organization} na {email}.',
  'Your account at {name}': 'Váš účet v {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Máte účet {email} v {organization}. Nastavte si heslo, abyste se mohli přihlásit.',
  'Set a password': 'Nastavit heslo',
  'Set a new password for {name}': 'Nastavte si nové heslo pro {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'Někdo požádal o nové heslo k účtu {email} v {organization}.',
  'Set a new password': 'Nastavit nové heslo',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'Účet je deaktivovaný. Správce organizace ho může znovu aktivovat.',
  'New log-in to {name}': 'Nové přihlášení do {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Někdo se přihlásil k vašemu účtu {email} v {organization}.',
  'Time: {time}': 'Čas: {time}',
  'Program: {program}': 'Program: {program}',
  'Network address: {ip}': 'Síťová adresa: {ip}',
  unknown: 'neznámé',
  'If this was not you, set a new password immediately and get a new API key.':
    'Pokud jste to nebyli vy, ihned si nastavte nové heslo a získejte nový klíč API.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Tento e-mail dostáváte, protože máte v nastavení zapnutá oznámení o nových přihlášeních.',
  'Your address at {name} has changed': 'Vaše adresa v {name} se změnila',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'Adresa vašeho účtu v {organization} je nyní {email}. Přihlašujte se s ní; chodí na ni i e-maily.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Pokud jste ji nezměnili vy, ihned informujte správce organizace.',
  'Welcome to {name}': 'Vítejte v {name}',
  'You have joined {name}. Log in with:': 'Připojili jste se k {name}. Přihlaste se pomocí:',
  'Organization: {url}': 'Organizace: {url}',
  'Address: {email}': 'Adresa: {email}',
  'Password: the one you chose when you signed up': 'Heslo: to, které jste si zvolili při registraci',
  'Password: none; log in the same way as when you joined': 'Heslo: žádné; přihlaste se stejně jako při připojení',
  'How to connect': 'Jak se připojit',
  'Your account at {name} has been deactivated': 'Váš účet v {name} byl deaktivován',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person}: váš účet v {organization} byl touto osobou deaktivován. Už se nemůžete přihlásit.',
  'An administrator': 'Správce',
  'Comment by {person}:': 'Komentář ({person}):',
  'Second factor of your account at {name}': 'Druhý faktor vašeho účtu v {name}',
  'A second factor was added to your account {email} at {organization}.':
    'K vašemu účtu {email} v {organization} byl přidán druhý faktor.',
  'A second factor was removed from your account {email} at {organization}.':
    'Z vašeho účtu {email} v {organization} byl odebrán druhý faktor.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'Správce odebral všechny druhé faktory z vašeho účtu {email} v {organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Pokud jste to nečekali, ihned si nastavte nové heslo a zkontrolujte druhé faktory svého účtu.',
  'Second factors of your account': 'Druhé faktory vašeho účtu',
  '{person} has invited you to join {name}': '{person} vás zve do {name}',
  'Reminder: {subject}': 'Připomínka: {subject}',
  'Hello,': 'Dobrý den,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} vás zve do {name}, kde týmy mluví v kanálech a tématech.',
  'This is a reminder: the invitation expires soon.': 'Toto je připomínka: platnost pozvánky brzy vyprší.',
  'If you do not want to join, ignore this email.': 'Pokud se nechcete připojit, tento e-mail ignorujte.',
  '{name} notifications': 'Oznámení z {name}',
  'Test notification': 'Zkušební oznámení',
  'This is a test notification from {organization}.': 'Toto je zkušební oznámení z {organization}.',
  'New messages': 'Nové zprávy',
  'There are more messages in this conversation.': 'V této konverzaci jsou další zprávy.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Tento e-mail neobsahuje text zpráv, protože jste ho v e-mailových oznámeních vypnuli.',
  'This email does not include message content because your organization hides message content in email.':
    'Tento e-mail neobsahuje text zpráv, protože ho vaše organizace v e-mailech skrývá.',
  'DMs with {name}': 'Přímé zprávy: {name}',
  'Group DMs with {names}': 'Skupinové zprávy: {names}',
  '{count} more': 'další ({count})',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Tento e-mail dostáváte, protože máte zapnutá e-mailová oznámení o přímých zprávách.',
  'You are receiving this because you were personally mentioned.':
    'Tento e-mail dostáváte, protože vás někdo osobně zmínil.',
  'You are receiving this because @{group} was mentioned.':
    'Tento e-mail dostáváte, protože byla zmíněna skupina @{group}.',
  'You are receiving this because all topic participants were mentioned.':
    'Tento e-mail dostáváte, protože byli zmíněni všichni účastníci tématu.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Tento e-mail dostáváte, protože byli zmíněni všichni v kanálu.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Tento e-mail dostáváte, protože máte zapnutá oznámení o hromadných zmínkách ve sledovaných tématech.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Tento e-mail dostáváte, protože máte zapnutá e-mailová oznámení o sledovaných tématech.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Tento e-mail dostáváte, protože máte zapnutá e-mailová oznámení pro {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Tento e-mail dostáváte, protože máte zapnutá e-mailová oznámení pro kanál.',
  'Do not reply to this email.': 'Na tento e-mail neodpovídejte.',
  'Reply to this email directly, or in the chat.': 'Odpovězte přímo na tento e-mail, nebo v chatu.',
  'View or reply in {name}': 'Zobrazit nebo odpovědět v {name}',
  'Manage email preferences': 'Nastavení e-mailů',
  Unsubscribe: 'Odhlásit odběr',
  'Weekly digest of {name}': 'Týdenní přehled z {name}',
  'Open {name}': 'Otevřít {name}',
  '{name} digest': 'Přehled z {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Tento e-mail dostáváte, protože jste několik dní nebyli aktivní a máte zapnuté e-mailové přehledy.',
  'Unread messages: {messages}, senders: {senders}': 'Nepřečtené zprávy: {messages}, odesílatelé: {senders}',
  'New channels': 'Nové kanály',
  'News of the last week in {name}:': 'Novinky posledního týdne v {name}:',
  'Busy conversations: {count}': 'Živé konverzace: {count}',
  'New channels: {count}': 'Nové kanály: {count}',
};
