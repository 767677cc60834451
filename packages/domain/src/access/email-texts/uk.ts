/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': 'Підтвердьте свою адресу для {name}',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    'Ви реєструєтеся в {organization}. Підтвердьте, що це ваша адреса, щоб продовжити.',
  'The link expires after one day.': 'Термін дії посилання — один день.',
  'Complete registration': 'Завершити реєстрацію',
  'If you did not request this, ignore this email.': 'Якщо ви цього не запитували, не зважайте на цей лист.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Хтось увійшов до {organization} через службу, яка не перевірила цю адресу. Підтвердьте, що вона ваша, і увійдіть ще раз.',
  'Confirm this address': 'Підтвердити цю адресу',
  'Confirm your new address for {name}': 'Підтвердьте нову адресу для {name}',
  'You are changing the address of your account at {organization} to {email}.':
    'Ви змінюєте адресу свого облікового запису в {organization} на {email}.',
  'Your account at {name}': 'Ваш обліковий запис у {name}',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    'Ви маєте обліковий запис {email} в {organization}. Встановіть пароль, щоб увійти.',
  'Set a password': 'Встановити пароль',
  'Set a new password for {name}': 'Встановіть новий пароль для {name}',
  'Someone requested a new password for the account {email} at {organization}.':
    'Хтось запросив новий пароль для облікового запису {email} в {organization}.',
  'Set a new password': 'Встановити новий пароль',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'Обліковий запис деактивовано. Адміністратор організації може активувати його знову.',
  'New log-in to {name}': 'Новий вхід до {name}',
  'Someone logged in to your account {email} at {organization}.':
    'Хтось увійшов до вашого облікового запису {email} в {organization}.',
  'Time: {time}': 'Час: {time}',
  'Program: {program}': 'Програма: {program}',
  'Network address: {ip}': 'Мережева адреса: {ip}',
  unknown: 'невідомо',
  'If this was not you, set a new password immediately and get a new API key.':
    'Якщо це були не ви, негайно встановіть новий пароль і отримайте новий ключ API.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Ви отримали цей лист, бо у ваших налаштуваннях увімкнено сповіщення про нові входи.',
  'Your address at {name} has changed': 'Вашу адресу в {name} змінено',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    'Адреса вашого облікового запису в {organization} тепер {email}. Використовуйте її для входу; листи теж надходять туди.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Якщо ви її не змінювали, негайно повідомте адміністратора організації.',
  'Welcome to {name}': 'Вітаємо в {name}',
  'You have joined {name}. Log in with:': 'Ви приєдналися до {name}. Дані для входу:',
  'Organization: {url}': 'Організація: {url}',
  'Address: {email}': 'Адреса: {email}',
  'Password: the one you chose when you signed up': 'Пароль: обраний під час реєстрації',
  'Password: none; log in the same way as when you joined': 'Пароль: немає; входьте так само, як під час приєднання',
  'How to connect': 'Як під’єднатися',
  'Your account at {name} has been deactivated': 'Ваш обліковий запис у {name} деактивовано',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person}: ваш обліковий запис у {organization} деактивовано цією особою. Ви більше не можете увійти.',
  'An administrator': 'Адміністратор',
  'Comment by {person}:': 'Коментар ({person}):',
  'Second factor of your account at {name}': 'Другий фактор вашого облікового запису в {name}',
  'A second factor was added to your account {email} at {organization}.':
    'До вашого облікового запису {email} в {organization} додано другий фактор.',
  'A second factor was removed from your account {email} at {organization}.':
    'З вашого облікового запису {email} в {organization} вилучено другий фактор.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'Адміністратор вилучив усі другі фактори вашого облікового запису {email} в {organization}.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Якщо ви цього не очікували, негайно встановіть новий пароль і перевірте другі фактори свого облікового запису.',
  'Second factors of your account': 'Другі фактори вашого облікового запису',
  '{person} has invited you to join {name}': '{person} запрошує вас до {name}',
  'Reminder: {subject}': 'Нагадування: {subject}',
  'Hello,': 'Вітаємо!',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} запрошує вас до {name}, де команди спілкуються в каналах і темах.',
  'This is a reminder: the invitation expires soon.': 'Це нагадування: запрошення незабаром втратить чинність.',
  'If you do not want to join, ignore this email.': 'Якщо ви не хочете приєднуватися, не зважайте на цей лист.',
  '{name} notifications': 'Сповіщення з {name}',
  'Test notification': 'Тестове сповіщення',
  'This is a test notification from {organization}.': 'Це тестове сповіщення з {organization}.',
  'New messages': 'Нові повідомлення',
  'There are more messages in this conversation.': 'У цій розмові є ще повідомлення.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Цей лист не містить тексту повідомлень, бо ви вимкнули його у сповіщеннях електронною поштою.',
  'This email does not include message content because your organization hides message content in email.':
    'Цей лист не містить тексту повідомлень, бо ваша організація приховує його в листах.',
  'DMs with {name}': 'Особисті повідомлення: {name}',
  'Group DMs with {names}': 'Групові повідомлення: {names}',
  '{count} more': 'ще {count}',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Ви отримали цей лист, бо увімкнули сповіщення електронною поштою про особисті повідомлення.',
  'You are receiving this because you were personally mentioned.': 'Ви отримали цей лист, бо вас особисто згадали.',
  'You are receiving this because @{group} was mentioned.': 'Ви отримали цей лист, бо згадали @{group}.',
  'You are receiving this because all topic participants were mentioned.':
    'Ви отримали цей лист, бо згадали всіх учасників теми.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Ви отримали цей лист, бо згадали всіх у каналі.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Ви отримали цей лист, бо увімкнули сповіщення про загальні згадки в темах, за якими стежите.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Ви отримали цей лист, бо увімкнули сповіщення електронною поштою про теми, за якими стежите.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Ви отримали цей лист, бо увімкнули сповіщення електронною поштою для {channel}.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Ви отримали цей лист, бо увімкнули сповіщення електронною поштою для каналу.',
  'Do not reply to this email.': 'Не відповідайте на цей лист.',
  'Reply to this email directly, or in the chat.': 'Відповідайте безпосередньо на цей лист або в чаті.',
  'View or reply in {name}': 'Переглянути або відповісти в {name}',
  'Manage email preferences': 'Налаштування листів',
  Unsubscribe: 'Відписатися',
  'Weekly digest of {name}': 'Тижневий огляд {name}',
  'Open {name}': 'Відкрити {name}',
  '{name} digest': 'Огляд {name}',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Ви отримали цей лист, бо кілька днів не були активні й увімкнули огляди електронною поштою.',
  'Unread messages: {messages}, senders: {senders}': 'Непрочитані повідомлення: {messages}, відправники: {senders}',
  'New channels': 'Нові канали',
  'News of the last week in {name}:': 'Новини останнього тижня в {name}:',
  'Busy conversations: {count}': 'Жваві розмови: {count}',
  'New channels: {count}': 'Нові канали: {count}',
};
