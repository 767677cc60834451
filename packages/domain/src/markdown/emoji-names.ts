import { slackEmoji } from './slack-emoji.js';

/**
 * Names of JoyPixels (Rocket.Chat) and GitHub (older Mattermost) that Slack does not know, in the form of Slack's table.
 * Source: emojibase-data 17 (MIT).
 */
const OTHER_NAMES = `
😀 grinning_face, 🤣 rofl, 🙂 slight_smile, 🙃 upside_down, 😉 winking_face, 🤩 star_struck, 😗 kissing_face, ☺️ smiling_face, 🤑 money_mouth,
🤗 hugging hugs, 🤔 thinking, 🤐 zipper_mouth, 😏 smirking_face, 😒 unamused_face, 🙄 rolling_eyes roll_eyes, 🤥 liar, 😌 relieved_face,
😔 pensive_face, 😪 sleepy_face, 🤤 drool, 😴 sleeping_face, 🤒 thermometer_face, 🤕 head_bandage, 🤢 sick, 🤧 sneeze, 🤠 cowboy cowboy_hat_face,
🤓 nerd, 😕 confused_face, 😟 worried_face, 🙁 slight_frown, ☹️ frowning2 frowning_face, 😯 hushed_face, 😳 flushed_face, 😨 fearful_face,
😢 crying_face, 😩 weary_face, 😡 pouting_face pout, 😠 angry_face, 🤬 face_with_symbols_over_mouth cursing_face, 💀 skeleton, ☠️ skull_crossbones,
💩 poo pile_of_poo, 🤡 clown, 👹 ogre, 👺 goblin, 👾 alien_monster, 🤖 robot, 😺 grinning_cat, 🙀 weary_cat, 😿 crying_cat, 💗 growing_heart,
💓 beating_heart, ❣️ heart_exclamation heavy_heart_exclamation, ❤️ red_heart, 💋 kiss_mark, 💨 dashing_away,
👁️‍🗨️ eye_in_speech_bubble eye_speech_bubble, 🗨️ speech_left, 🗯️ anger_right, 👋 waving_hand, 🤚 back_of_hand, 🖐️ hand_splayed,
🖖 vulcan raised_hand_with_part_between_middle_and_ring_fingers vulcan_salute, ✌️ victory_hand,
🤞 fingers_crossed hand_with_index_and_middle_finger_crossed, 🤟 love_you_gesture, 🤘 metal, 🤙 call_me, 👍️ thumbup thumbs_up,
👎️ thumbdown thumbs_down, ✊️ raised_fist fist_raised, 👊 oncoming_fist fist_oncoming, 🤛 left_facing_fist left_fist fist_left,
🤜 right_facing_fist right_fist fist_right, 🙌 raising_hands, 🤝 shaking_hands, 🙏 folded_hands, 💅 nail_polish, 💪 flexed_biceps, 👄 mouth, 🧑 person,
👱 blond_haired_person, 🧔 person_beard, 🧔‍♂️ man_beard, 🧔‍♀️ woman_beard, 👨‍🦰 man_red_haired man_red_hair, 👨‍🦱 man_curly_haired,
👨‍🦳 man_white_haired, 👨‍🦲 man_bald, 👩‍🦰 woman_red_haired, 🧑‍🦰 person_red_hair, 👩‍🦱 woman_curly_haired, 🧑‍🦱 person_curly_hair,
👩‍🦳 woman_white_haired, 🧑‍🦳 person_white_hair, 👩‍🦲 woman_bald, 🧑‍🦲 person_bald, 👱‍♀️ blond-haired_woman blond_haired_woman blonde_woman,
👱‍♂️ blond-haired_man blond_haired_man, 🧓 older_person, 👴 old_man, 👵 grandma old_woman, 🙍‍♂️ man_frowning frowning_man,
🙍‍♀️ woman_frowning frowning_woman, 🙎 person_pouting, 🙎‍♂️ man_pouting pouting_man, 🙎‍♀️ woman_pouting pouting_woman, 🙅 person_gesturing_no,
🙅‍♂️ man_gesturing_no ng_man no_good_man, 🙅‍♀️ woman_gesturing_no ng_woman no_good_woman, 🙆 person_gesturing_ok ok_person,
🙆‍♂️ man_gesturing_ok ok_man, 🙆‍♀️ woman_gesturing_ok, 💁 person_tipping_hand tipping_hand_person, 💁‍♂️ man_tipping_hand sassy_man tipping_hand_man,
💁‍♀️ woman_tipping_hand sassy_woman tipping_hand_woman, 🙋 person_raising_hand, 🙋‍♂️ man_raising_hand raising_hand_man,
🙋‍♀️ woman_raising_hand raising_hand_woman, 🙇 person_bowing, 🙇‍♂️ man_bowing bowing_man, 🙇‍♀️ woman_bowing bowing_woman,
🤦 person_facepalming facepalm, 🤦‍♂️ man_facepalming, 🤦‍♀️ woman_facepalming, 🤷 person_shrugging, 🤷‍♂️ man_shrugging, 🤷‍♀️ woman_shrugging,
👨‍⚕️ man_health_worker, 👩‍⚕️ woman_health_worker, 👨‍🎓 man_student, 👩‍🎓 woman_student, 👨‍🏫 man_teacher, 👩‍🏫 woman_teacher, 👨‍⚖️ man_judge,
👩‍⚖️ woman_judge, 👨‍🌾 man_farmer, 👩‍🌾 woman_farmer, 👨‍🍳 man_cook, 👩‍🍳 woman_cook, 👨‍🔧 man_mechanic, 👩‍🔧 woman_mechanic,
👨‍🏭 man_factory_worker, 👩‍🏭 woman_factory_worker, 👨‍💼 man_office_worker, 👩‍💼 woman_office_worker, 👨‍🔬 man_scientist, 👩‍🔬 woman_scientist,
👨‍💻 man_technologist, 👩‍💻 woman_technologist, 👨‍🎤 man_singer, 👩‍🎤 woman_singer, 👨‍🎨 man_artist, 👩‍🎨 woman_artist, 👨‍✈️ man_pilot,
👩‍✈️ woman_pilot, 👨‍🚀 man_astronaut, 👩‍🚀 woman_astronaut, 👨‍🚒 man_firefighter, 👩‍🚒 woman_firefighter, 👮 police_officer,
👮‍♂️ man_police_officer policeman, 👮‍♀️ woman_police_officer policewoman, 🕵️ detective spy, 🕵️‍♂️ man_detective male_detective,
🕵️‍♀️ woman_detective female_detective, 💂 guard, 💂‍♂️ man_guard, 💂‍♀️ woman_guard guardswoman,
👷‍♂️ man_construction_worker construction_worker_man, 👷‍♀️ woman_construction_worker construction_worker_woman,
👳 person_wearing_turban person_with_turban, 👳‍♂️ man_wearing_turban, 👳‍♀️ woman_wearing_turban woman_with_turban, 👲 man_with_chinese_cap,
🧕 woman_with_headscarf, 👰 person_with_veil, 🤰 expecting_woman, 🤱 breast_feeding, 👼 baby_angel, 🎅 santa_claus, 🦸‍♂️ man_superhero superhero_man,
🦸‍♀️ woman_superhero superhero_woman, 🦹‍♂️ man_supervillain supervillain_man, 🦹‍♀️ woman_supervillain supervillain_woman, 🧙‍♂️ man_mage mage_man,
🧙‍♀️ woman_mage mage_woman, 🧚‍♂️ man_fairy fairy_man, 🧚‍♀️ woman_fairy fairy_woman, 🧛‍♂️ man_vampire vampire_man,
🧛‍♀️ woman_vampire vampire_woman, 🧝‍♂️ man_elf elf_man, 🧝‍♀️ woman_elf elf_woman, 🧞‍♂️ man_genie genie_man, 🧞‍♀️ woman_genie genie_woman,
🧟‍♂️ man_zombie zombie_man, 🧟‍♀️ woman_zombie zombie_woman, 💆 person_getting_massage, 💆‍♂️ man_getting_face_massage massage_man,
💆‍♀️ woman_getting_face_massage massage_woman, 💇 person_getting_haircut, 💇‍♂️ man_getting_haircut haircut_man,
💇‍♀️ woman_getting_haircut haircut_woman, 🚶 person_walking, 🚶‍♂️ man_walking walking_man, 🚶‍♀️ woman_walking walking_woman, 🧍 person_standing,
🧎 person_kneeling, 🏃 person_running, 🏃‍♂️ man_running running_man, 🏃‍♀️ woman_running running_woman, 💃 woman_dancing, 🕺 male_dancer,
🕴️ levitate business_suit_levitating, 👯 people_with_bunny_ears_partying, 👯‍♂️ men_with_bunny_ears_partying dancing_men,
👯‍♀️ women_with_bunny_ears_partying dancing_women, 🤺 person_fencing fencing, 🏌️ person_golfing golfing, 🏌️‍♂️ man_golfing golfing_man,
🏌️‍♀️ woman_golfing golfing_woman, 🏄️ person_surfing, 🏄‍♂️ man_surfing surfing_man, 🏄‍♀️ woman_surfing surfing_woman, 🚣 person_rowing_boat,
🚣‍♂️ man_rowing_boat rowing_man, 🚣‍♀️ woman_rowing_boat rowing_woman, 🏊️ person_swimming, 🏊‍♂️ man_swimming swimming_man,
🏊‍♀️ woman_swimming swimming_woman, ⛹️ person_bouncing_ball basketball_player bouncing_ball_person,
⛹️‍♂️ man_bouncing_ball basketball_man bouncing_ball_man, ⛹️‍♀️ woman_bouncing_ball basketball_woman bouncing_ball_woman,
🏋️ person_lifting_weights lifter weight_lifting, 🏋️‍♂️ man_lifting_weights weight_lifting_man, 🏋️‍♀️ woman_lifting_weights weight_lifting_woman,
🚴 person_biking, 🚴‍♂️ man_biking biking_man, 🚴‍♀️ woman_biking biking_woman, 🚵 person_mountain_biking,
🚵‍♂️ man_mountain_biking mountain_biking_man, 🚵‍♀️ woman_mountain_biking mountain_biking_woman, 🤸 cartwheel cartwheeling, 🤸‍♂️ man_cartwheeling,
🤸‍♀️ woman_cartwheeling, 🤼 people_wrestling wrestling, 🤼‍♂️ men_wrestling, 🤼‍♀️ women_wrestling, 🤽 person_playing_water_polo,
🤽‍♂️ man_playing_water_polo, 🤽‍♀️ woman_playing_water_polo, 🤾 person_playing_handball handball_person, 🤾‍♂️ man_playing_handball,
🤾‍♀️ woman_playing_handball, 🤹 person_juggling juggler juggling_person, 🤹‍♂️ man_juggling, 🤹‍♀️ woman_juggling, 🛌 person_in_bed sleeping_bed,
👩‍❤️‍💋‍👨 kiss_woman_man couplekiss_man_woman, 👨‍❤️‍💋‍👨 kiss_mm couplekiss_mm kiss_man_man couplekiss_man_man,
👩‍❤️‍💋‍👩 kiss_ww couplekiss_ww couplekiss_woman_woman, 👩‍❤️‍👨 couple_with_heart_woman_man,
👨‍❤️‍👨 couple_mm couple_with_heart_mm couple_with_heart_man_man, 👩‍❤️‍👩 couple_ww couple_with_heart_ww couple_with_heart_woman_woman,
👨‍👩‍👦 family_man_woman_boy, 👨‍👩‍👧 family_mwg family_man_woman_girl, 👨‍👩‍👧‍👦 family_mwgb family_man_woman_girl_boy,
👨‍👩‍👦‍👦 family_mwbb family_man_woman_boy_boy, 👨‍👩‍👧‍👧 family_mwgg family_man_woman_girl_girl, 👨‍👨‍👦 family_mmb family_man_man_boy,
👨‍👨‍👧 family_mmg family_man_man_girl, 👨‍👨‍👧‍👦 family_mmgb family_man_man_girl_boy, 👨‍👨‍👦‍👦 family_mmbb family_man_man_boy_boy,
👨‍👨‍👧‍👧 family_mmgg family_man_man_girl_girl, 👩‍👩‍👦 family_wwb family_woman_woman_boy, 👩‍👩‍👧 family_wwg family_woman_woman_girl,
👩‍👩‍👧‍👦 family_wwgb family_woman_woman_girl_boy, 👩‍👩‍👦‍👦 family_wwbb family_woman_woman_boy_boy,
👩‍👩‍👧‍👧 family_wwgg family_woman_woman_girl_girl, 👨‍👦 family_man_boy, 👨‍👦‍👦 family_man_boy_boy, 👨‍👧 family_man_girl,
👨‍👧‍👦 family_man_girl_boy, 👨‍👧‍👧 family_man_girl_girl, 👩‍👦 family_woman_boy, 👩‍👦‍👦 family_woman_boy_boy, 👩‍👧 family_woman_girl,
👩‍👧‍👦 family_woman_girl_boy, 👩‍👧‍👧 family_woman_girl_girl, 🗣️ speaking_head, 🏻 tone1, 🏼 tone2, 🏽 tone3, 🏾 tone4, 🏿 tone5,
🦰 red_haired red_hair, 🦱 curly_haired curly_hair, 🦳 white_haired white_hair, 🦲 bald, 🐶 dog_face, 🦊 fox, 🐱 cat_face, 🦁 lion, 🐯 tiger_face,
🐴 horse_face, 🦄 unicorn, 🦓 zebra, 🐮 cow_face, 🐷 pig_face, 🐑 ewe, 🦒 giraffe, 🦏 rhino, 🐭 mouse_face, 🐰 rabbit_face, 🐼 panda, 🕊️ dove,
🦖 t_rex, 🐚 spiral_shell, 🥀 wilted_rose, 🌾 sheaf_of_rice, 🍎 red_apple, 🥝 kiwi kiwi_fruit, 🌽 ear_of_corn, 🥜 shelled_peanut, 🥖 french_bread,
🧀 cheese, 🍟 french_fries, 🌭 hot_dog, 🥙 stuffed_pita, 🥘 paella, 🍲 pot_of_food, 🥗 salad, 🍱 bento_box, 🍚 cooked_rice, 🍛 curry_rice,
🍜 steaming_bowl, 🎂 birthday_cake, 🍰 shortcake, 🍮 pudding flan, 🥛 milk milk_glass, ☕️ hot_beverage, 🍾 bottle_with_popping_cork, 🍺 beer_mug,
🥂 champagne_glass clinking_glass, 🥃 whisky, 🧉 mate, 🍽️ fork_knife_plate fork_and_knife_with_plate plate_with_cutlery, 🔪 kitchen_knife, 🗺️ map,
🗾 map_of_japan, 🏔️ mountain_snow, 🏖️ beach, 🏝️ island, 🏞️ park, 🏗️ construction_site, 🧱 brick, 🏘️ homes houses,
🏚️ house_abandoned derelict_house, 🏰 castle, 🌆 city_dusk, 🌇 sunset, ♨️ hot_springs, 💈 barber_pole, 🚂 locomotive, 🚅 bullet_train, 🚋 tram_car,
🚗 automobile, 🏎️ race_car, 🏍️ motorcycle, 🛵 motorbike, 🚲️ bicycle, 🛴 kick_scooter, 🚏 bus_stop, 🛤️ railroad_track, 🛢️ oil, ⛽️ fuel_pump,
🛑 stop_sign, 🛶 kayak, 🛳️ cruise_ship, 🛥️ motorboat, 🛩️ airplane_small, 🛰️ satellite_orbital artificial_satellite, 🛎️ bellhop, ⏲️ timer,
🕰️ clock mantlepiece_clock, 🕛️ twelve_oclock, 🕧️ twelve_thirty, 🕐️ one_oclock, 🕜️ one_thirty, 🕑️ two_oclock, 🕝️ two_thirty, 🕒️ three_oclock,
🕞️ three_thirty, 🕓️ four_oclock, 🕟️ four_thirty, 🕔️ five_oclock, 🕠️ five_thirty, 🕕️ six_oclock, 🕡️ six_thirty, 🕖️ seven_oclock,
🕢️ seven_thirty, 🕗️ eight_oclock, 🕣️ eight_thirty, 🕘️ nine_oclock, 🕤️ nine_thirty, 🕙️ ten_oclock, 🕥️ ten_thirty, 🕚️ eleven_oclock,
🕦️ eleven_thirty, 🌚 new_moon_face, ☀️ sun, 🌟 glowing_star, 🌠 shooting_star, ⛈️ thunder_cloud_rain cloud_with_lightning_and_rain,
🌤️ white_sun_small_cloud white_sun_with_small_cloud sun_behind_small_cloud, 🌥️ white_sun_cloud white_sun_behind_cloud sun_behind_large_cloud,
🌦️ white_sun_rain_cloud white_sun_behind_cloud_with_rain, 🌧️ cloud_rain cloud_with_rain, 🌨️ cloud_snow cloud_with_snow,
🌩️ cloud_lightning cloud_with_lightning, 🌪️ cloud_tornado cloud_with_tornado, 🌬️ wind_face, ☂️ umbrella2 open_umbrella,
⛱️ beach_umbrella parasol_on_ground, ⚡️ high_voltage, ☃️ snowman2 snowman_with_snow, 🔥 flame, 🌊 water_wave, 🎉 party_popper, 🎏 carp_streamer,
🎁 wrapped_gift, 🎟️ tickets, 🎖️ military_medal medal_military, 🥇 first_place 1st_place_medal, 🥈 second_place 2nd_place_medal,
🥉 third_place 3rd_place_medal, ⚽️ soccer_ball, 🏏 cricket_game cricket_bat_ball, 🏑 field_hockey, 🏒 hockey ice_hockey, 🏓 ping_pong table_tennis,
🏸 badminton, 🥊 boxing_gloves, 🥋 karate_uniform, 🥅 goal, ⛳️ flag_in_hole, 🎣 fishing_pole, 🎽 running_shirt, 🎿 skis, 🎯 direct_hit, 🪀 yo_yo,
🔫 pistol, 🧩 puzzle_piece, ♠️ spade_suit, ♥️ heart_suit, ♦️ diamond_suit, ♣️ club_suit, 🃏 joker, 🖼️ frame_photo framed_picture, 👓️ glasses,
👕 t_shirt, 🩱 one_piece_swimsuit, 👝 clutch_bag, 🎒 backpack, 👟 running_shoe, 🥿 flat_shoe, 👡 womans_sandal, 👢 womans_boot, 🎩 top_hat,
⛑️ helmet_with_cross rescue_worker_helmet, 💎 gem_stone, 🔇 muted_speaker, 📣 megaphone, 🎶 musical_notes, 🎙️ microphone2, 🎧️ headphone, 🥁 drum,
📱 mobile_phone, 📠 fax_machine, 🖥️ desktop, 🖱️ mouse_three_button computer_mouse, 💽 computer_disk, 💿️ optical_disk, 📽️ projector,
🎬️ clapper_board, 📺️ television, 📼 videocassette, 💡 light_bulb, 🗞️ newspaper2 newspaper_roll, 💰️ money_bag, 💴 yen_banknote, 💶 euro_banknote,
📧 e_mail, 🗳️ ballot_box, 🖋️ pen_fountain fountain_pen, 🖊️ pen_ballpoint pen, 🖌️ paintbrush, 🖍️ crayon, 🗂️ dividers,
🗒️ notepad_spiral spiral_notepad, 🗓️ calendar_spiral spiral_calendar, 🖇️ paperclips, 🗃️ card_box, 🔒️ locked, 🔓️ unlocked, 🗝️ key2,
⚒️ hammer_pick, 🛠️ tools, 🗡️ dagger, 🏹 archery, 🗜️ clamp, ⚖️ balance_scale, 🩻 x_ray, 🛋️ couch, 🧴 squeeze_bottle, 🛒 shopping_cart, 🚬 cigarette,
⚱️ urn, 🗿 moai, 🚹️ mens_room, 🚺️ womens_room, 🚾 water_closet, 🚫 prohibited, 🚯 no_littering, ☢️ radioactive, ☣️ biohazard, ⬆️ up_arrow,
➡️ right_arrow, ⬇️ down_arrow, ⬅️ left_arrow, ↖️ up_left_arrow, ↕️ up_down_arrow, 🔙 back_arrow, 🔚 end_arrow, 🔛 on_arrow, 🔜 soon_arrow,
🔝 top_arrow, 🛐 worship_symbol, ⚛️ atom, ✝️ cross, ☮️ peace, 🕎 menorah, ♏️ scorpio, ⏭️ track_next next_track next_track_button,
⏯️ play_pause play_or_pause_button, ⏮️ track_previous previous_track previous_track_button, ⏸️ pause_button, ⏹️ stop_button, ⏺️ record_button,
⏏️ eject_symbol eject_button, 📶 antenna_bars, ❓️ question_mark, ⚜️ fleur-de-lis, ✔️ check_mark, ❌️ cross_mark, ™️ trade_mark,
*️⃣ asterisk keycap_asterisk, 🔢 input_numbers, 🔣 input_symbols, ℹ️ information, Ⓜ️ circled_m, 🟠 orange_circle, 🟡 yellow_circle, 🟢 green_circle,
🔵 blue_circle, 🟣 purple_circle, 🟤 brown_circle, 🟥 red_square, 🟧 orange_square, 🟨 yellow_square, 🟩 green_square, 🟦 blue_square,
🟪 purple_square, 🟫 brown_square, 🥰 smiling_face_with_three_hearts, 🤭 hand_over_mouth, 🤨 raised_eyebrow, 🤮 vomiting_face, 🧐 monocle_face, 🖕 fu,
🙍 frowning_person, 🧍‍♂️ standing_man, 🧍‍♀️ standing_woman, 🧎‍♂️ kneeling_man, 🧎‍♀️ kneeling_woman, 🧖 sauna_person, 🧖‍♂️ sauna_man,
🧖‍♀️ sauna_woman, 🧗 climbing, 🧗‍♂️ climbing_man, 🧗‍♀️ climbing_woman, 🧘 lotus_position, 🧘‍♂️ lotus_position_man, 🧘‍♀️ lotus_position_woman,
🍊 mandarin orange, 🛫 flight_departure, 🛬 flight_arrival, 🏅 medal_sports, 🩲 swim_brief, 🛍️ shopping, 🎞️ film_strip, 📸 camera_flash, 🕉️ om
`;

let characters: ReadonlyMap<string, string> | undefined;

function charactersByName(): ReadonlyMap<string, string> {
  characters ??= new Map(
    OTHER_NAMES.trim()
      .split(/,\s*/)
      .flatMap((entry) => {
        const [character, ...names] = entry.split(' ') as [string, ...string[]];
        return names.map((name) => [name, character] as const);
      }),
  );
  return characters;
}

/** Returns the standard emoji with a name of Slack, Mattermost, Rocket.Chat or Discord; null for other names. */
export function emojiNamed(name: string): string | null {
  const [, base = name, tone] = /^(.+)_tone([1-5])$/.exec(name) ?? [];
  const standard = base.replace(/^flag_(?=[a-z]{2}$)/, 'flag-');
  // Slack numbers skin tones from 2.
  return (
    slackEmoji(standard, tone === undefined ? undefined : Number(tone) + 1) ?? charactersByName().get(base) ?? null
  );
}
