/** Email texts, by English text. */
export const TEXTS = {
  'Confirm your address for {name}': '{name} için adresinizi onaylayın',
  'You are signing up for {organization}. Confirm that this is your address to continue.':
    '{organization} için kaydoluyorsunuz. Devam etmek için bunun sizin adresiniz olduğunu onaylayın.',
  'The link expires after one day.': 'Bağlantının süresi bir gün sonra dolar.',
  'Complete registration': 'Kaydı tamamla',
  'If you did not request this, ignore this email.': 'Bunu siz istemediyseniz bu e-postayı dikkate almayın.',
  'Someone logged in to {organization} through a service that has not verified this address. Confirm that it is yours, and log in again.':
    'Birisi, bu adresi doğrulamayan bir hizmetle {organization} organizasyonuna giriş yaptı. Adresin size ait olduğunu onaylayın ve yeniden giriş yapın.',
  'Confirm this address': 'Bu adresi onayla',
  'Confirm your new address for {name}': '{name} için yeni adresinizi onaylayın',
  'You are changing the address of your account at {organization} to {email}.':
    '{organization} hesabınızın adresini {email} olarak değiştiriyorsunuz.',
  'Your account at {name}': '{name} hesabınız',
  'You have an account, {email}, at {organization}. Set a password to log in.':
    '{organization} üzerinde {email} adresli bir hesabınız var. Giriş yapmak için bir parola belirleyin.',
  'Set a password': 'Parola belirle',
  'Set a new password for {name}': '{name} için yeni bir parola belirleyin',
  'Someone requested a new password for the account {email} at {organization}.':
    'Birisi {organization} üzerindeki {email} hesabı için yeni bir parola istedi.',
  'Set a new password': 'Yeni parola belirle',
  'The account is deactivated. An administrator of the organization can reactivate it.':
    'Hesap devre dışı. Organizasyonun bir yöneticisi onu yeniden etkinleştirebilir.',
  'New log-in to {name}': '{name}: yeni giriş',
  'Someone logged in to your account {email} at {organization}.':
    'Birisi {organization} üzerindeki {email} hesabınıza giriş yaptı.',
  'Time: {time}': 'Zaman: {time}',
  'Program: {program}': 'Program: {program}',
  'Network address: {ip}': 'Ağ adresi: {ip}',
  unknown: 'bilinmiyor',
  'If this was not you, set a new password immediately and get a new API key.':
    'Bu siz değilseniz hemen yeni bir parola belirleyin ve yeni bir API anahtarı alın.',
  'You receive this because email notifications for new log-ins are enabled in your settings.':
    'Bu e-postayı, ayarlarınızda yeni giriş bildirimleri açık olduğu için alıyorsunuz.',
  'Your address at {name} has changed': '{name} adresiniz değişti',
  'The address of your account at {organization} is now {email}. Log in with it; emails go there, too.':
    '{organization} hesabınızın adresi artık {email}. Bu adresle giriş yapın; e-postalar da oraya gider.',
  'If you did not change it, tell an administrator of the organization immediately.':
    'Adresi siz değiştirmediyseniz hemen organizasyonun bir yöneticisine haber verin.',
  'Welcome to {name}': '{name} organizasyonuna hoş geldiniz',
  'You have joined {name}. Log in with:': '{name} organizasyonuna katıldınız. Giriş bilgileriniz:',
  'Organization: {url}': 'Organizasyon: {url}',
  'Address: {email}': 'Adres: {email}',
  'Password: the one you chose when you signed up': 'Parola: kaydolurken seçtiğiniz parola',
  'Password: none; log in the same way as when you joined': 'Parola: yok; katılırken yaptığınız gibi giriş yapın',
  'How to connect': 'Nasıl bağlanılır',
  'Your account at {name} has been deactivated': '{name} hesabınız devre dışı bırakıldı',
  '{person} has deactivated your account at {organization}. You can no longer log in.':
    '{person}, {organization} hesabınızı devre dışı bıraktı. Artık giriş yapamazsınız.',
  'An administrator': 'Bir yönetici',
  'Comment by {person}:': 'Açıklama ({person}):',
  'Second factor of your account at {name}': '{name} hesabınızın ikinci etkeni',
  'A second factor was added to your account {email} at {organization}.':
    '{organization} üzerindeki {email} hesabınıza ikinci bir etken eklendi.',
  'A second factor was removed from your account {email} at {organization}.':
    '{organization} üzerindeki {email} hesabınızdan ikinci bir etken kaldırıldı.',
  'An administrator removed all second factors from your account {email} at {organization}.':
    'Bir yönetici, {organization} üzerindeki {email} hesabınızın tüm ikinci etkenlerini kaldırdı.',
  'If you did not expect this, set a new password immediately and check the second factors of your account.':
    'Bunu beklemiyorduysanız hemen yeni bir parola belirleyin ve hesabınızın ikinci etkenlerini denetleyin.',
  'Second factors of your account': 'Hesabınızın ikinci etkenleri',
  '{person} has invited you to join {name}': '{person} sizi {name} organizasyonuna davet etti',
  'Reminder: {subject}': 'Anımsatma: {subject}',
  'Hello,': 'Merhaba,',
  '{person} invites you to join {name}, where teams talk in channels and topics.':
    '{person} sizi, ekiplerin kanallarda ve konularda konuştuğu {name} organizasyonuna davet ediyor.',
  'This is a reminder: the invitation expires soon.': 'Bu bir anımsatmadır: davetin süresi yakında doluyor.',
  'If you do not want to join, ignore this email.': 'Katılmak istemiyorsanız bu e-postayı dikkate almayın.',
  '{name} notifications': '{name} bildirimleri',
  'Test notification': 'Deneme bildirimi',
  'This is a test notification from {organization}.':
    'Bu, {organization} tarafından gönderilen bir deneme bildirimidir.',
  'New messages': 'Yeni iletiler',
  'There are more messages in this conversation.': 'Bu konuşmada başka iletiler de var.',
  'This email does not include message content because you have disabled message content in email notifications.':
    'Bu e-posta ileti içeriğini göstermiyor, çünkü e-posta bildirimlerinde ileti içeriğini kapattınız.',
  'This email does not include message content because your organization hides message content in email.':
    'Bu e-posta ileti içeriğini göstermiyor, çünkü organizasyonunuz e-postalarda ileti içeriğini gizliyor.',
  'DMs with {name}': 'Doğrudan iletiler: {name}',
  'Group DMs with {names}': 'Grup iletileri: {names}',
  '{count} more': '{count} kişi daha',
  'You are receiving this because you have email notifications enabled for direct messages.':
    'Bu e-postayı, doğrudan iletiler için e-posta bildirimleri açık olduğu için alıyorsunuz.',
  'You are receiving this because you were personally mentioned.':
    'Bu e-postayı, sizden bahsedildiği için alıyorsunuz.',
  'You are receiving this because @{group} was mentioned.':
    'Bu e-postayı, @{group} grubundan bahsedildiği için alıyorsunuz.',
  'You are receiving this because all topic participants were mentioned.':
    'Bu e-postayı, konunun tüm katılımcılarından bahsedildiği için alıyorsunuz.',
  'You are receiving this because everyone in the channel was mentioned.':
    'Bu e-postayı, kanaldaki herkesten bahsedildiği için alıyorsunuz.',
  'You are receiving this because you have wildcard mention notifications enabled for topics you follow.':
    'Bu e-postayı, izlediğiniz konularda genel bahsetme bildirimleri açık olduğu için alıyorsunuz.',
  'You are receiving this because you have email notifications enabled for topics you follow.':
    'Bu e-postayı, izlediğiniz konular için e-posta bildirimleri açık olduğu için alıyorsunuz.',
  'You are receiving this because you have email notifications enabled for {channel}.':
    'Bu e-postayı, {channel} için e-posta bildirimleri açık olduğu için alıyorsunuz.',
  'You are receiving this because you have email notifications enabled for the channel.':
    'Bu e-postayı, kanal için e-posta bildirimleri açık olduğu için alıyorsunuz.',
  'Do not reply to this email.': 'Bu e-postayı yanıtlamayın.',
  'Reply to this email directly, or in the chat.': 'Bu e-postayı doğrudan ya da sohbette yanıtlayın.',
  'View or reply in {name}': '{name} içinde görüntüle veya yanıtla',
  'Manage email preferences': 'E-posta tercihleri',
  Unsubscribe: 'Abonelikten çık',
  'Weekly digest of {name}': '{name} haftalık özeti',
  'Open {name}': '{name} organizasyonunu aç',
  '{name} digest': '{name} özeti',
  'You are receiving this because you have not been active for some days and have email digests enabled.':
    'Bu e-postayı, birkaç gündür etkin olmadığınız ve e-posta özetleri açık olduğu için alıyorsunuz.',
  'Unread messages: {messages}, senders: {senders}': 'Okunmamış iletiler: {messages}, gönderenler: {senders}',
  'New channels': 'Yeni kanallar',
  'News of the last week in {name}:': '{name} organizasyonunda geçen haftanın haberleri:',
  'Busy conversations: {count}': 'Canlı konuşmalar: {count}',
  'New channels: {count}': 'Yeni kanallar: {count}',
};
